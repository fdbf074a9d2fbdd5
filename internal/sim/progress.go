package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// errNoProgress is what ends a run whose world cannot go on, because time has
// ceased to pass or nobody waits for anything that can come. That is no fault of
// the world's: the history says it, and nothing that did not happen can be told
// from it.
var errNoProgress = errors.New("no progress")

// endIfStuck ends a run in which nobody can go on, though some client should.
func (w *World) endIfStuck(mains []*task) {
	if w.stuck(mains) {
		w.fail(w.noProgress(fmt.Sprintf("nothing happens after %v any more", w.time())))
	}
}

// stuck reports whether some client has not returned and no client will ever go
// on: the queue holds nothing that could make a difference, not even after the
// horizon, and nobody waits for a time, so that no clock matters. A client that
// the plan has killed or paused for ever is not stuck; nor is one that waits for
// what such a client holds, since it does so by trying again from time to time.
func (w *World) stuck(mains []*task) bool {
	unfinished := false
	for i, c := range w.clients {
		if c.stopped() {
			continue
		}
		unfinished = unfinished || !mains[i].done
		if slices.ContainsFunc(c.coroutines, func(co *coroutine) bool { return co.until != env.Never }) {
			return false
		}
	}
	return unfinished && !slices.ContainsFunc(w.queue.heap, w.matters)
}

// matters reports whether an event can make somebody go on who waits for no
// time. A server that its machine starts again has a delayed action of its own.
func (w *World) matters(e event) bool {
	switch e.class() {
	case timerFires:
		return false
	case delayedActions:
		return !w.delayed.at(e.index()).clocks
	}
	return true
}

// mostNamed is how many coroutines a reason names.
const mostNamed = 12

// noProgress is why the run ends: what is the matter, and what every coroutine
// of a client that lives waits for.
func (w *World) noProgress(matter string) error {
	var doing []string
	for _, c := range w.clients {
		if c.dead {
			continue
		}
		for _, co := range c.coroutines {
			doing = append(doing, co.doing())
		}
	}
	if more := len(doing) - mostNamed; more > 0 {
		doing = append(doing[:mostNamed], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: %s: %s", errNoProgress, matter, strings.Join(doing, "; "))
}

// doing says what the coroutine does, as in "client 1, main: waits for a reply
// until 1.5s".
func (co *coroutine) doing() string {
	who := fmt.Sprintf("client %d, %s: ", co.client.id, co.task.name)
	switch {
	case co.client.paused:
		return who + "is paused"
	case !co.parked || co.ready:
		return who + "runs"
	case co.until == env.Never:
		return who + "waits for " + co.awaits.String()
	}
	return who + fmt.Sprintf("waits for %v until %v", co.awaits, time.Duration(co.until))
}

// awaited is what a parked coroutine waits for.
type awaited uint8

const (
	awaitsStart awaited = iota
	awaitsTime
	awaitsReply
	awaitsConnection
	awaitsRegister
	awaitsTask
	awaitsResumption
	awaitsEnd
)

func (a awaited) String() string {
	switch a {
	case awaitsStart:
		return "its start"
	case awaitsTime:
		return "the time to pass"
	case awaitsReply:
		return "a reply"
	case awaitsConnection:
		return "a connection"
	case awaitsRegister:
		return "the guarded resource"
	case awaitsTask:
		return "a task"
	case awaitsResumption:
		return "the end of a pause"
	case awaitsEnd:
		return "the end of the run"
	}
	return fmt.Sprintf("awaited(%d)", uint8(a))
}
