package fuzz

import (
	"github.com/lockstorm/lockstorm/history"
)

// contention tells of a run whether some fault began while a client held a resource
// that another wanted: where none did, that nothing was broken says little.
//
// A hold is what lease exclusion means by it. A client wants a resource from its first
// try until it is granted, or its call is cancelled: also between two tries.
type contention struct {
	holders map[string]map[string]bool // by resource, the tokens that hold it
	wants   map[int]string             // by client, the resource
	seen    bool
}

func newContention() *contention {
	return &contention{holders: map[string]map[string]bool{}, wants: map[int]string{}}
}

// Record implements [history.Sink].
func (c *contention) Record(e *history.Event) {
	switch e.Kind {
	case history.Acquire:
		c.wants[e.Client] = e.Resource
	case history.Granted:
		delete(c.wants, e.Client)
		if c.holders[e.Resource] == nil {
			c.holders[e.Resource] = map[string]bool{}
		}
		c.holders[e.Resource][e.Token] = true
	case history.Lapse, history.Lost, history.Release:
		delete(c.holders[e.Resource], e.Token)
	case history.Kill, history.Cancel:
		delete(c.wants, e.Client)
	case history.FaultStart:
		c.seen = c.seen || c.contended()
	}
}

// contended reports whether somebody wants what another holds.
func (c *contention) contended() bool {
	for _, resource := range c.wants {
		if len(c.holders[resource]) > 0 {
			return true
		}
	}
	return false
}
