package trace

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// worthTelling is by how much a clock has to go wrong, against what was last told of it.
const worthTelling = time.Millisecond

// clocks follows how far each clock is ahead of the ground clock: of a client the one
// that its lock reads, of a node the one by which its keys expire.
type clocks struct {
	of      runner.Clocks // nil: nobody shows them
	lock    env.Clock
	clients []ahead
	nodes   []ahead
}

// ahead is how far a clock has been ahead: at first, and when it was last told.
type ahead struct{ first, told time.Duration }

func (c *clocks) open(h history.Header, of runner.Clocks) {
	c.of = of
	if of == nil {
		return
	}
	c.clients, c.nodes = make([]ahead, h.Clients), make([]ahead, h.Nodes)
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

// ClockIs is a clock that is no more where it was.
type ClockIs struct {
	Whose string // the name of the client or node
	Clock string // which of its clocks
	Ahead time.Duration
}

func (c ClockIs) tell(*teller) (string, string) {
	way, by := "ahead of", c.Ahead
	switch {
	case by == 0:
		return c.Whose, fmt.Sprintf("its %s clock is right again", c.Clock)
	case by < 0:
		way, by = "behind", -by
	}
	return c.Whose, fmt.Sprintf("its %s clock is %s %s the ground clock", c.Clock, textfmt.Duration(by), way)
}

// look tells of the clocks that have gone wrong since the event before, where that may
// have changed one, and of those that the event makes matter.
func (c *clocks) look(before, now *history.Event, tell func(ClockIs)) {
	if c.of == nil {
		return
	}
	all := changesClocks[before.Kind]
	for i := range c.clients {
		if all || readsClock[now.Kind] && now.Client == i+1 {
			c.clients[i].look(c.client(i+1), clientName(i+1), c.lock.String(), tell)
		}
	}
	for i := range c.nodes {
		if all || now.Node == i+1 {
			c.nodes[i].look(c.node(i+1), nodeName(i+1), env.Wall.String(), tell)
		}
	}
}

// changesClocks are the events after which any clock may be another, readsClock those at
// which it matters what the client's clock shows.
var (
	changesClocks = map[history.Kind]bool{history.FaultStart: true, history.FaultEnd: true, history.Resume: true}
	readsClock    = map[history.Kind]bool{history.Acquire: true, history.Granted: true, history.Extend: true, history.Extended: true, history.Lapse: true, history.Release: true}
)

func (a *ahead) look(now time.Duration, who, name string, tell func(ClockIs)) {
	now -= a.first
	if (now - a.told).Abs() < worthTelling {
		return
	}
	a.told = now
	tell(ClockIs{who, name, now})
}
