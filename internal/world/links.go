package world

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Links counts the faults that affect each link between a client and a node. The
// history shows a link as down while any fault affects it: the client cannot expect
// a quick round trip.
type Links struct {
	clients, nodes int
	faults         []int // that affect the link, by client, then by node
	record         func(e history.Event)
}

// NewLinks returns the links of a world without faults. record writes an event.
func NewLinks(clients, nodes int, record func(e history.Event)) *Links {
	return &Links{clients: clients, nodes: nodes, faults: make([]int, clients*nodes), record: record}
}

// Disturb marks every selected link as affected by one more fault, and then calls
// disturb for it.
func (l *Links) Disturb(which nemesis.Links, disturb func(client, node int)) {
	l.each(which, func(client, node int, faults *int) {
		*faults++
		if *faults == 1 {
			l.record(history.Event{Kind: history.LinkDown, Client: client, Node: node})
		}
		disturb(client, node)
	})
}

// Mend calls mend for every selected link, and then marks it as affected by one
// fault less.
func (l *Links) Mend(which nemesis.Links, mend func(client, node int)) {
	l.each(which, func(client, node int, faults *int) {
		mend(client, node)
		*faults--
		if *faults == 0 {
			l.record(history.Event{Kind: history.LinkUp, Client: client, Node: node})
		}
	})
}

func (l *Links) each(which nemesis.Links, do func(client, node int, faults *int)) {
	for _, client := range nemesis.Each(which.Clients, l.clients) {
		for _, node := range nemesis.Each(which.Nodes, l.nodes) {
			do(client, node, &l.faults[(client-1)*l.nodes+node-1])
		}
	}
}

// Rules lists what the faults of a plan do to messages in one direction of a link. The
// zero value does nothing. A list is never changed, only replaced.
type Rules []activeRule

type activeRule struct {
	nemesis.Rule
	fault   int  // its number in the plan
	forGood bool // it never ends
}

// With returns the rules with the rule of one more fault.
func (l Rules) With(r nemesis.Rule, fault int, forGood bool) Rules {
	return append(slices.Clip(l), activeRule{r, fault, forGood})
}

// Without returns the rules without that of a fault.
func (l Rules) Without(fault int) Rules {
	return slices.DeleteFunc(slices.Clone(l), func(r activeRule) bool { return r.fault == fault })
}

// Delay returns how much longer a message takes. Each rule draws once.
func (l Rules) Delay(m nemesis.Message) (sum time.Duration) {
	for _, r := range l {
		if r.Rule.Delay != nil {
			sum += r.Rule.Delay(m)
		}
	}
	return sum
}

// Holds reports whether a rule holds a message back, and whether it never ends.
func (l Rules) Holds(m nemesis.Message) (held, forGood bool) {
	for _, r := range l {
		if r.Rule.Holds != nil && r.Rule.Holds(m) {
			held, forGood = true, forGood || r.forGood
		}
	}
	return held, forGood
}
