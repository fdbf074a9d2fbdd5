package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// errNoProgress ends a run whose world cannot continue, because time does not advance or
// nobody waits for anything that can happen. It is not an error of the world: the history
// states it, and the checker concludes nothing from what did not happen.
var errNoProgress = errors.New("no progress")

// endIfStuck ends a run in which some client should continue and none can.
func (w *World) endIfStuck() {
	if w.stuck() {
		w.fail(w.noProgress(fmt.Sprintf("nothing happens after %v any more", w.time())))
	}
}

// stuck reports whether some client has not returned and no client will ever continue: the
// queue holds no event that matters, not even after the horizon, and nobody waits for a
// time, so that no clock matters. A client that the plan has killed or paused for ever is
// not stuck. Neither is one that waits for such a client's lock, because it retries.
func (w *World) stuck() bool {
	unfinished := false
	for _, c := range w.clients {
		if c.stopped() {
			continue
		}
		unfinished = unfinished || !c.main.done
		if slices.ContainsFunc(c.activities, func(a *activity) bool { return a.until != env.Never }) {
			return false
		}
	}
	return unfinished && !slices.ContainsFunc(w.queue.others, w.canWake)
}

// canWake reports whether an event that is no timer can wake somebody who does not wait for a
// time. A server that its machine restarts has a delayed action.
func (w *World) canWake(e event) bool {
	return e.class() != delayedActions || !w.delayed.at(e.index()).clocks
}

// maxNamed is the number of activities that a reason lists.
const maxNamed = 12

// noProgress returns the reason for the end of the run, with what every activity of a
// living client waits for.
func (w *World) noProgress(matter string) error {
	var doing []string
	for _, c := range w.clients {
		if c.dead {
			continue
		}
		for _, a := range c.activities {
			doing = append(doing, a.describe())
		}
	}
	if more := len(doing) - maxNamed; more > 0 {
		doing = append(doing[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: %s: %s", errNoProgress, matter, strings.Join(doing, "; "))
}

// A run is bounded by counts and not by time, so that a bound is exceeded at the same event on
// every machine. Counted are the events of the queue, the turns of activities, and the calls
// by which clients wait, send, read a clock or report a step: every iteration of a loop makes one
// of them.

// errBound ends a run that has reached one of its limits.
var errBound = errors.New("bound exceeded")

// maxCalls is how many calls one client may make at one instant, times the number of nodes
// plus five: enough for about 500 tries. A client that makes more does not wait for
// anything, and the run does not come nearer to its horizon.
const maxCalls = 2000

// callsFor returns the limit on a client's calls at one instant.
func callsFor(s nemesis.Setting) int64 { return maxCalls * int64(s.Nodes+5) }

// maxAtInstant is how many events one instant may have, in which no single client makes
// too many calls; maxPerClient is how many more it may have for each client.
const (
	maxAtInstant = 1_000_000
	maxPerClient = 1_000
)

// maxPending is how many events may wait in the queue, maxTasks how many tasks may run at
// a time, beside some for each client: both take memory as long as they last.
const (
	maxPending        = 1 << 20
	maxTasks          = 1 << 14
	maxTasksPerClient = 16
)

// limits are the limits of a run, and how much of them is used up.
type limits struct {
	done    int64 // events, so far
	next    int64 // the number of events at which a bound has to be looked at
	events  int64 // events in all
	instant int64 // events at one instant
	calls   int64 // of a client at one instant
	tasks   int   // at a time
}

func newLimits(s nemesis.Setting) limits {
	l := limits{
		events:  int64(s.EventLimit()),
		instant: maxAtInstant + maxPerClient*int64(s.Clients),
		calls:   callsFor(s),
		tasks:   maxTasks + maxTasksPerClient*s.Clients,
	}
	l.timeAdvanced()
	return l
}

// timeAdvanced has to be called when time advances.
func (l *limits) timeAdvanced() { l.next = min(l.events, l.done+l.instant) }

// Events returns the number of events so far, which [nemesis.Setting.MaxEvents] limits.
func (w *World) Events() int { return int(w.limits.done) }

// tick counts an event of the world. [client.count] counts a client's calls.
func (w *World) tick() {
	w.limits.done++
	if w.limits.done >= w.limits.next {
		w.checkLimits()
	}
}

// checkLimits ends a run that has had too many events.
func (w *World) checkLimits() {
	switch l := &w.limits; {
	case l.done >= l.events:
		w.fail(w.boundError(fmt.Sprintf("%d events by %v of %v (max_events): %s",
			l.events, w.time(), w.setting.Horizon, w.busiest())))
	default:
		w.fail(w.noProgress(fmt.Sprintf("time does not move: it stands still at %v, after %d events at this instant: %s",
			w.time(), l.instant, w.busiest())))
	}
	w.limits.next = math.MaxInt64 // said once
}

// boundError returns the error of a run that has reached a limit.
func (w *World) boundError(what string) error { return fmt.Errorf("%w: %s", errBound, what) }

// busiest names the client that has made the most calls.
func (w *World) busiest() string {
	most := w.clients[0]
	for _, c := range w.clients {
		if c.calls > most.calls {
			most = c
		}
	}
	if most.calls == 0 {
		return "no client has made a call: it is nodes, the store and faults that are busy"
	}
	return fmt.Sprintf("client %d is the busiest, with %d calls", most.id, most.calls)
}

// callExceedsLimit counts a call of the client, and reports whether it is one too many for
// the client or the world.
func (c *client) callExceedsLimit() bool {
	w := c.world
	c.calls++
	if c.instant != w.now {
		c.instant, c.earlier = w.now, c.calls-1
	}
	w.tick()
	if c.calls-c.earlier > w.limits.calls {
		w.fail(w.noProgress(fmt.Sprintf("time does not move: client %d spins at %v, with more than %d calls at this instant", c.id, w.time(), w.limits.calls)))
	}
	return w.err != nil
}

// count counts a call of the client, and stops the client if it is one too many.
func (c *client) count() {
	if !c.callExceedsLimit() {
		return
	}
	if co := c.world.current; co != nil {
		co.halt()
	}
}

// countStep counts a turn of a client's activity, after which all of the client's
// activities are scanned.
func (w *World) countStep(c *client) {
	w.limits.done += int64(len(c.activities) / scansPerEvent)
	w.tick()
	w.limitPending()
}

// scansPerEvent is how many items of a scan cost as much as an event.
const scansPerEvent = 64

// limitPending ends a run with too many events or messages under way.
func (w *World) limitPending() {
	m := &w.network.messages
	if w.queue.len() > maxPending || len(m.all)-len(m.free) > maxPending {
		w.fail(w.boundError(fmt.Sprintf("more than %d messages, timers and faults under way at %v: %s", maxPending, w.time(), w.busiest())))
	}
}

// limitTasks ends a run with too many concurrent tasks.
func (w *World) limitTasks() {
	if running := len(w.activities) - len(w.idle); running > w.limits.tasks {
		w.fail(w.boundError(fmt.Sprintf("more than %d tasks of clients at a time, at %v: %s", w.limits.tasks, time.Duration(w.now), w.busiest())))
	}
}
