package sim

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// activity is something at a client that acts when the event loop lets it, and waits in
// between: a job of the client's code, which runs on a coroutine, or the batches of a link.
// An activity that has to wait says what could end its wait. It may be let act without a
// reason, so it checks again. Activities are reused.
type activity struct {
	world     *World
	index     int32      // in the world's list
	coroutine *coroutine // for jobs; nil: it has had none

	client *client // nil: it is idle
	name   string
	actor  actor

	// The wait.
	waits        bool
	waitsFor     waitReason      // for diagnostics only
	ready        bool            // it is in the world's list of those that act next
	wakeOnResume bool            // it would be in that list if its client could run
	until        env.Instant     // on the client's monotonic clock
	ctx          context.Context // nil: none that can end

	// timerAt is the ground time of its earliest timer in the queue. Timers are not taken
	// out when a wait ends early; one that fires in vain is set anew if the activity still
	// waits.
	timerAt int64
}

const noTimer = math.MaxInt64

// actor is what an activity does.
type actor interface {
	// act takes a turn. It ends the activity, or says what it waits for.
	act()
}

// idleActivity returns one that has nothing to do.
func (w *World) idleActivity() *activity {
	if last := len(w.idle) - 1; last >= 0 {
		a := w.idle[last]
		w.idle = w.idle[:last]
		return a
	}
	a := w.newActivities.next()
	a.world, a.index, a.timerAt = w, int32(len(w.activities)), noTimer
	w.activities = append(w.activities, a)
	return a
}

// begin makes an idle activity act for a client, from this instant on.
func (a *activity) begin(c *client, name string, what actor) {
	a.client, a.name, a.actor = c, name, what
	a.waits, a.waitsFor, a.until, a.ctx = true, awaitsStart, env.Never, nil
	c.activities = append(c.activities, a)
	a.world.limitTasks()
	a.world.wake(a)
}

// end makes the activity idle.
func (a *activity) end() {
	a.client.forget(a)
	a.client = nil
	a.world.idle = append(a.world.idle, a)
}

// wake lets an activity act at this instant, or when its paused client resumes.
func (w *World) wake(a *activity) {
	switch {
	case a.ready, a.client == nil: // a task may have outlived who waited for it
	case a.client.stopped():
		a.wakeOnResume = true
	default:
		a.ready = true
		w.ready = append(w.ready, a)
	}
}

// wait records that the activity waits for something, and at most until an instant of its
// client's clock.
func (a *activity) wait(until env.Instant, awaits waitReason) {
	a.waits, a.waitsFor, a.until = true, awaits, until
	a.setTimer()
}

// setTimer makes sure that a timer fires at the end of the wait, at the latest.
func (a *activity) setTimer() {
	if a.until == env.Never {
		return
	}
	at := max(a.client.clocks[env.Monotonic].When(int64(a.until)), a.world.now)
	if at < a.timerAt {
		a.timerAt = at
		a.world.queue.push(at, timerFires, a.index)
	}
}

// timer handles a timer of the activity.
func (a *activity) timer(at int64) {
	if at != a.timerAt {
		return
	}
	a.timerAt = noTimer
	if !a.waits || a.client == nil {
		return
	}
	if a.client.mono() >= a.until {
		a.world.wake(a)
		return
	}
	a.setTimer()
}

// wakeCancelled wakes the activities that wait under a context which has ended: contexts
// do not notify the world.
func (c *client) wakeCancelled() {
	for _, a := range c.activities {
		if a.waits && a.ctx != nil && a.ctx.Err() != nil {
			c.world.wake(a)
		}
	}
}

// describe says what the activity does, as in "client 1, main: waits for a reply until
// 1.5s".
func (a *activity) describe() string {
	who := fmt.Sprintf("client %d, %s: ", a.client.id, a.name)
	switch {
	case a.client.paused:
		return who + "is paused"
	case !a.waits || a.ready:
		return who + "runs"
	case a.until == env.Never:
		return who + "waits for " + a.waitsFor.String()
	}
	return who + fmt.Sprintf("waits for %v until %v", a.waitsFor, time.Duration(a.until))
}

// waitReason is what an activity waits for.
type waitReason uint8

const (
	awaitsStart waitReason = iota
	awaitsTime
	awaitsReply
	awaitsConnection
	awaitsRegister
	awaitsTask
	awaitsResumption
	awaitsEnd
)

func (a waitReason) String() string {
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
