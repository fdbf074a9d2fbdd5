package world

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Carrier carries the faults of a plan out on a world of type W, and tells the
// history when each begins and ends. It is the world's [nemesis.Carrier].
type Carrier[W any] struct {
	world   W
	cases   []Case[nemesis.Action] // by the number of the fault, from 0
	players []Player[W]            // likewise
	record  func(e history.Event)
	fault   int // on behalf of which something is done just now, or 0
}

// NewCarrier returns the carrier of a world's plan. record writes an event.
func NewCarrier[W any](world W, plan nemesis.Plan, repertoire Repertoire[W], record func(e history.Event)) *Carrier[W] {
	c := &Carrier[W]{world: world, cases: cases(plan), record: record}
	for _, one := range c.cases {
		c.players = append(c.players, repertoire.player(one.Action))
	}
	return c
}

// Open prepares the world for its plan, before the run. It is an error if the
// repertoire lacks a kind of fault that the plan has.
func (c *Carrier[W]) Open() error {
	for i, one := range c.cases {
		if c.players[i] == nil {
			return named(one, fmt.Errorf("faults of the kind %s cannot be carried out here", one.Action.Kind()))
		}
		c.players[i].prepare(c.world, one)
	}
	return nil
}

// Begin implements [nemesis.Carrier].
func (c *Carrier[W]) Begin(number int) (err error) {
	one := c.cases[number-1]
	c.OnBehalf(number, func() {
		whose := whoseClock(one.Action)
		c.Record(history.Event{
			Kind: history.FaultStart, Name: string(one.Action.Kind()), Detail: one.Action.String(),
			Client: whose.Client, Node: whose.Node,
		})
		err = c.players[number-1].begin(c.world, one)
	})
	return named(one, err)
}

// End implements [nemesis.Carrier]. A fault whose end cannot be carried out
// has not ended, nor has one whose end takes its time (see [Part.EndingLate]).
func (c *Carrier[W]) End(number int) error {
	one, player := c.cases[number-1], c.players[number-1]
	end := func() error { return player.end(c.world, one) }
	if player.endsLate() {
		return named(one, end())
	}
	return named(one, c.finish(one, end))
}

// EndBy tells that the world itself brings the end of a fault about, by what it
// does.
func (c *Carrier[W]) EndBy(number int, do func()) {
	_ = c.finish(c.cases[number-1], func() error { do(); return nil })
}

func (c *Carrier[W]) finish(one Case[nemesis.Action], do func() error) (err error) {
	c.OnBehalf(one.Number, func() {
		if err = do(); err == nil {
			c.Record(history.Event{Kind: history.FaultEnd, Detail: one.Action.String()})
		}
	})
	return err
}

// OnBehalf does something that comes of a fault, perhaps long after its begin.
func (c *Carrier[W]) OnBehalf(number int, do func()) {
	before := c.fault
	c.fault = number
	defer func() { c.fault = before }()
	do()
}

// Record writes what the world does. If that comes of a fault, the event bears
// the fault's number.
func (c *Carrier[W]) Record(e history.Event) {
	e.Fault = c.fault
	c.record(e)
}

// named says which fault an error is about.
func named(one Case[nemesis.Action], err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("fault %d (%v): %w", one.Number, one.Action, err)
}
