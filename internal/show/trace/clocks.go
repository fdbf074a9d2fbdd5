package trace

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// minClockChange is the smallest change of a clock, compared with its last shown value, that is
// shown.
const minClockChange = time.Millisecond

// clocks tracks how far each clock is ahead of the ground clock: the clock that a client's
// lock reads, and the clock by which a node's keys expire.
type clocks struct {
	of      runner.ClockReader // nil: nobody shows them
	lock    env.Clock
	clients []clockOffset
	nodes   []clockOffset
}

// clockOffset is how far a clock was ahead: at first, and when it was last shown.
type clockOffset struct{ first, told time.Duration }

func (c *clocks) open(h history.Header, of runner.ClockReader) {
	c.of = of
	if of == nil {
		return
	}
	c.clients, c.nodes = make([]clockOffset, h.Clients), make([]clockOffset, h.Nodes)
	for i := range c.clients {
		c.clients[i].first = c.client(i + 1)
	}
	for i := range c.nodes {
		c.nodes[i].first = c.node(i + 1)
	}
}

func (c *clocks) client(n int) time.Duration {
	return time.Duration(c.of.ClientClock(n, c.lock)) - time.Duration(c.of.Ground())
}

func (c *clocks) node(n int) time.Duration {
	return time.Duration(c.of.NodeClock(n)) - time.Duration(c.of.Ground())
}

// ClockIs says that a clock has changed against the ground clock.
type ClockIs struct {
	Whose Participant // a client or node
	Clock string      // which of its clocks
	Ahead time.Duration
}

func (c ClockIs) tell(*describer) (Participant, string) {
	way, by := "ahead of", c.Ahead
	switch {
	case by == 0:
		return c.Whose, fmt.Sprintf("its %s clock is right again", c.Clock)
	case by < 0:
		way, by = "behind", -by
	}
	return c.Whose, fmt.Sprintf("its %s clock is %s %s the ground clock", c.Clock, textfmt.Duration(by), way)
}

// look reports the clocks that have changed: all of them after an event that can change
// clocks, and those that the new event depends on.
func (c *clocks) look(before, now *history.Event, tell func(ClockIs)) {
	if c.of == nil {
		return
	}
	all := changesClocks[before.Kind]
	for i := range c.clients {
		if all || readsClock[now.Kind] && now.Client == i+1 {
			c.clients[i].look(c.client(i+1), client(i+1), c.lock.String(), tell)
		}
	}
	for i := range c.nodes {
		if all || now.Node == i+1 {
			c.nodes[i].look(c.node(i+1), node(i+1), env.Wall.String(), tell)
		}
	}
}

// changesClocks are the events after which any clock may be another, readsClock those at
// which it matters what the client's clock shows.
var (
	changesClocks = map[history.Kind]bool{history.FaultStart: true, history.FaultEnd: true, history.Resume: true}
	readsClock    = map[history.Kind]bool{history.Acquire: true, history.Granted: true, history.Extend: true, history.Extended: true, history.Lapse: true, history.Release: true}
)

func (a *clockOffset) look(now time.Duration, who Participant, name string, tell func(ClockIs)) {
	now -= a.first
	if (now - a.told).Abs() < minClockChange {
		return
	}
	a.told = now
	tell(ClockIs{who, name, now})
}
