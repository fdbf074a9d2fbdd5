package world

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Carrier carries faults out on a world of type W, and tells the history when
// each begins and ends. It is the world's [nemesis.Carrier].
type Carrier[W any] struct {
	world      W
	repertoire nemesis.Repertoire[W]
	record     func(e history.Event)
	fault      int // that begins or ends just now, or 0
}

// NewCarrier returns the carrier of a world. record writes an event.
func NewCarrier[W any](world W, repertoire nemesis.Repertoire[W], record func(e history.Event)) *Carrier[W] {
	return &Carrier[W]{world: world, repertoire: repertoire, record: record}
}

// Begin implements [nemesis.Carrier].
func (c *Carrier[W]) Begin(number int, f *nemesis.Fault) error {
	c.fault = number
	defer func() { c.fault = 0 }()
	c.Record(history.Event{Kind: history.FaultStart, Detail: f.Action.String()})
	return c.repertoire.Begin(c.world, number, f)
}

// End implements [nemesis.Carrier]. A fault whose end cannot be carried out
// has not ended.
func (c *Carrier[W]) End(number int, f *nemesis.Fault) error {
	c.fault = number
	defer func() { c.fault = 0 }()
	if err := c.repertoire.End(c.world, number, f); err != nil {
		return err
	}
	c.Record(history.Event{Kind: history.FaultEnd, Detail: f.Action.String()})
	return nil
}

// Record writes what the world does. If that comes of a fault which begins or
// ends just now, the event bears the fault's number, unless it bears another
// already.
func (c *Carrier[W]) Record(e history.Event) {
	if e.Fault == 0 {
		e.Fault = c.fault
	}
	c.record(e)
}
