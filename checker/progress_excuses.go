package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
)

// excuses says which faults can have made clients wait for a resource. A fault that cannot have is no
// reason to count a wait anew, and its end does not excuse a wait that was too long.
//
// What a fault does shows in the history: nodes that go down, links, pauses, deaths, and the machine
// whose clocks it makes wrong. It concerns a resource if it befalls a node that keeps the lock, or a
// client that has ever asked for the resource; of a link it has to befall both. A fault that shows nothing
// of the kind, or is of an unknown kind, may concern everybody.
//
// When such a thing begins or ends, the wait counts anew. After that a node or a client that stays away
// is no excuse, and so it is none when it comes back: a lock has to go on without it. What can keep
// clients waiting for as long as it lasts is a link that is down, or a clock that is wrong.
type excuses struct {
	voters  timeline.Nodes // that keep the lock
	faults  map[int]*ongoingFault
	cut     []timeline.Nodes               // by client: the links that were down before this instant
	clocks  []clockFault                   // of nodes that keep the lock
	unnamed history.Time                   // when a fault of unknown kind first began; forever: there was none
	hidden  history.Time                   // when the last fault began that goes on and shows nothing yet, although its kind does
	users   timeline.PerResource[[]uint64] // the clients that have asked for it, a bit each
}

// ongoingFault is a fault that has begun and not ended.
type ongoingFault struct {
	number  int
	began   history.Time
	kind    nemesis.Kind
	machine nemesis.Machine
	shown   bool // the history shows something that it does
	begins  bool // in this instant
}

// clockFault is a time in which the clocks of a node may have been wrong.
type clockFault struct {
	node int
	timeline.Fault
}

// concern is whose waits something can have caused.
type concern struct {
	everybody bool
	client    *timeline.Client // nil: nobody's, or everybody's
}

func (c concern) none() bool { return !c.everybody && c.client == nil }

func newExcuses(voters timeline.Nodes, clients int) excuses {
	return excuses{
		voters: voters, faults: map[int]*ongoingFault{}, unnamed: timeline.Forever, hidden: timeline.LongAgo,
		cut: make([]timeline.Nodes, 0, 1+min(clients, 64)),
	}
}

// use notes that a client asks for the resource.
func (x *excuses) use(r *timeline.Resource, c *timeline.Client) {
	users, word := x.users.Of(r), c.Number/64
	for len(*users) <= word {
		*users = append(*users, 0)
	}
	(*users)[word] |= 1 << (c.Number % 64)
}

// usedBy reports whether a client has asked for the resource.
func (x *excuses) usedBy(r *timeline.Resource, c *timeline.Client) bool {
	users, word := *x.users.Of(r), c.Number/64
	return word < len(users) && users[word]>>(c.Number%64)&1 != 0
}

// resources lists the resources whose waits something can have caused, in the order of their names.
func (x *excuses) resources(line *timeline.Timeline, c concern) []*timeline.Resource {
	if c.none() {
		return nil
	}
	return slices.DeleteFunc(line.ResourcesInOrder(), func(r *timeline.Resource) bool { return !c.everybody && !x.usedBy(r, c.client) })
}

// shows is what the history shows of faults: nodes that go down, links, pauses and deaths.
const shows = nemesis.TakesDown | nemesis.StopsNode | nemesis.ReturnsErrors | nemesis.CutsPeers |
	nemesis.CutsLinks | nemesis.Delays | nemesis.Narrows | nemesis.Loses | nemesis.Resets |
	nemesis.StopsClient | nemesis.EndsClient

// concern returns whose waits the fault can have caused, other than by what the history shows of it.
func (f *ongoingFault) concern(line *timeline.Timeline, voters timeline.Nodes) concern {
	switch {
	case f.kind.Does(nemesis.DelaysAccess): // nothing that a lock does
		return concern{}
	case f.isClock() && f.machine.Node != 0:
		return concern{everybody: voters.Has(f.machine.Node)}
	case f.isClock() && f.machine.Client != 0:
		return concern{client: line.Client(f.machine.Client)}
	}
	return concern{everybody: !f.shown || !f.kind.Does(shows)}
}

func (f *ongoingFault) isClock() bool { return f.kind.Does(nemesis.StepsClock | nemesis.WandersClock) }

// starts notes that a fault begins, and returns it.
func (x *excuses) starts(f *timeline.Fact) *ongoingFault {
	on := &ongoingFault{number: f.Fault, began: f.Time, kind: nemesis.Kind(f.Name), machine: nemesis.Machine{Node: f.Node, Client: f.Client}, begins: true}
	x.faults[f.Fault] = on
	switch {
	case f.Name == "":
		x.unnamed = min(x.unnamed, f.Time)
	case x.voters.Has(f.Node):
		x.clocks = append(x.clocks, clockFault{f.Node, timeline.Fault{About: f.Subject(), Kind: nemesis.Kind(f.Name), From: f.Time, Open: true}})
	}
	return on
}

// ends notes that a fault ends, and returns it.
func (x *excuses) ends(f *timeline.Fact) *ongoingFault {
	on := x.faults[f.Fault]
	delete(x.faults, f.Fault)
	for i := range x.clocks {
		if v := &x.clocks[i]; v.About.Number == f.Fault && v.Open {
			v.Open, v.Ended, v.To = false, true, f.Time
		}
	}
	return on
}

// shown notes what the history shows in an instant of faults, by their numbers, including those that
// have ended in it.
func (x *excuses) shown(numbers []int, over []*ongoingFault) {
	for _, number := range numbers {
		if on := x.faults[number]; on != nil {
			on.shown = true
		}
		for _, on := range over {
			on.shown = on.shown || on.number == number
		}
	}
	x.hidden = timeline.LongAgo
	for _, on := range x.faults {
		if on.kind.Does(shows) && !on.shown {
			x.hidden = max(x.hidden, on.began)
		}
	}
}

// begun ends an instant: what has begun in it goes on from now on.
func (x *excuses) begun(linked []*timeline.Client) {
	for _, on := range x.faults {
		on.begins = false
	}
	for _, c := range linked {
		for len(x.cut) <= c.Number {
			x.cut = append(x.cut, 0)
		}
		x.cut[c.Number] = c.Unlinked & x.voters
	}
}

// cutLinks are the links of a client that are down.
type cutLinks struct {
	client *timeline.Client
	nodes  timeline.Nodes
}

// present returns what goes on that can have made clients wait for a resource until now: links that are
// down, and faults.
func (x *excuses) present(line *timeline.Timeline, r *timeline.Resource) (links []cutLinks, faults []int) {
	for number, cut := range x.cut {
		if c := line.Client(number); cut != 0 && x.usedBy(r, c) {
			links = append(links, cutLinks{c, cut})
		}
	}
	for number, on := range x.faults {
		if c := on.concern(line, x.voters); !on.begins && (c.everybody || c.client != nil && x.usedBy(r, c.client)) {
			faults = append(faults, number)
		}
	}
	return links, faults
}

// slow reports whether the clock of a node may have been slow while it kept a key that was due at an
// instant: a fault made it wrong before the key was due, and was not over when the key was given its
// time to live.
func (x *excuses) slow(node int, given, due history.Time) bool {
	if x.unnamed <= due {
		return true
	}
	return slices.ContainsFunc(x.clocks, func(v clockFault) bool { return v.node == node && v.From <= due && v.Affects(given) })
}
