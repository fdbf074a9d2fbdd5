package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// watchInterval is how often, in real time, the watchdog looks whether virtual time has
// advanced. Looks are counted and not time, because a machine that was suspended has lost
// time without having had it.
var watchInterval = time.Second

const (
	// stallLooks is after how many looks without an advance a run is abandoned.
	stallLooks = 60
	// mutexLooks is the same while goroutines wait for mutexes and no goroutine runs.
	// Nothing within the run can wake them any more.
	mutexLooks = 10
)

// maxStallLooks bounds the looks that all abandoned runs of the program cost. Abandoned
// goroutines keep their memory, and may keep a processor busy.
var maxStallLooks int64 = 180

// stalls are the runs that the program has abandoned.
var stalls stallBudget

// stallBudget counts abandoned runs, and the looks of the watchdog that they have cost.
type stallBudget struct{ runs, looks atomic.Int64 }

// add counts a run that was abandoned.
func (b *stallBudget) add(looks int) {
	b.runs.Add(1)
	b.looks.Add(int64(looks))
}

// exhausted returns why no more bubbles are started, or nil.
func (b *stallBudget) exhausted() error {
	if b.looks.Load() < maxStallLooks {
		return nil
	}
	return fmt.Errorf("virtual time stood still in %s of this program, which is enough", textfmt.Count(int(b.runs.Load()), "run"))
}

// watchdog checks that virtual time advances: run counts seconds inside the bubble, and
// await observes the count from outside.
type watchdog struct {
	seconds   atomic.Int64
	abandoned atomic.Bool
}

// run counts the seconds of virtual time until done is closed. If time goes on after the run
// was abandoned, it calls stop, so that the goroutines end.
func (d *watchdog) run(done <-chan struct{}, stop func()) {
	for {
		select {
		case <-time.After(time.Second):
			d.seconds.Add(1)
			if d.abandoned.Load() {
				stop()
			}
		case <-done:
			return
		}
	}
}

// await returns what comes from over, or a [stallError] if virtual time stands still.
func (d *watchdog) await(over <-chan error, code userCode) error {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	last, still, waiting := d.seconds.Load(), 0, 0
	for {
		select {
		case err := <-over:
			return err
		case <-tick.C:
		}
		if now := d.seconds.Load(); now != last {
			last, still, waiting = now, 0, 0
			continue
		}
		still++
		all := newestBubble()
		busy := slices.DeleteFunc(slices.Clone(all), func(g goroutine) bool { return g.durable })
		if waiting++; len(busy) == 0 || slices.ContainsFunc(busy, goroutine.busy) {
			waiting = 0
		}
		if still >= stallLooks || waiting >= mutexLooks {
			stalls.add(still)
			d.abandoned.Store(true)
			return newStallError(all, busy, code, time.Duration(still)*watchInterval)
		}
	}
}

// mutexStates are the states in which a goroutine waits for a mutex.
var mutexStates = []string{"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "semacquire"}

// busy reports whether a goroutine that stops virtual time does anything but wait for a
// mutex.
func (g goroutine) busy() bool { return !slices.Contains(mutexStates, g.state) }

// stallError is the error of a run that was abandoned, because virtual time stood still.
type stallError struct{ text string }

func (e *stallError) Error() string { return e.text }

// stalled reports whether a run was abandoned.
func stalled(err error) bool {
	var s *stallError
	return errors.As(err, &s)
}

// newStallError returns the error of a run by the goroutines of its bubble. The busy ones
// stop virtual time.
func newStallError(all, busy []goroutine, code userCode, after time.Duration) *stallError {
	var b strings.Builder
	fmt.Fprintf(&b, "virtual time has stood still for %v", after)
	if len(busy) == 0 {
		return &stallError{b.String() + ", and the run was abandoned"}
	}
	slices.SortStableFunc(busy, func(x, y goroutine) int { return x.rank() - y.rank() })
	first := busy[0]
	if f, found := code.line(first, all); found {
		fmt.Fprintf(&b, " in %v", f)
	}
	fmt.Fprintf(&b, ", and the run was abandoned: %s", first.reason())
	if r := remedy(busy); r != "" {
		fmt.Fprintf(&b, "\n\n%s", r)
	}
	fmt.Fprintf(&b, "\n\nIts stack:\n%s", first.short(code))
	if more := len(busy) - 1; more > 0 {
		fmt.Fprintf(&b, "\n\nGoroutines that stop time beside it: %d", more)
	}
	return &stallError{b.String()}
}

// rank sorts goroutines by how much they explain: one that runs, one that waits for a mutex,
// others.
func (g goroutine) rank() int {
	switch {
	case g.runs():
		return 0
	case !g.busy():
		return 1
	}
	return 2
}

// runs reports whether a goroutine runs or could.
func (g goroutine) runs() bool {
	return strings.HasPrefix(g.state, "running") || strings.HasPrefix(g.state, "runnable")
}

// reason says how a goroutine stops virtual time.
func (g goroutine) reason() string {
	switch {
	case g.runs():
		return "a goroutine of the lock runs without a pause, as one does that retries in a loop after its context has ended"
	case !g.busy():
		return fmt.Sprintf("a goroutine of the lock waits for a mutex (%s) which is never unlocked, or whose owner waits, too; testing/synctest does not count that as blocked", g.state)
	}
	return fmt.Sprintf("a goroutine of the lock waits for something outside the run (%s), such as a channel or a Redis client that was not made in it", g.state)
}

// remedy returns what helps against a known cause, or "".
func remedy(busy []goroutine) string {
	if slices.ContainsFunc(busy, func(g goroutine) bool { return g.mentions("maintnotifications") }) {
		return "go-redis holds this mutex while it waits for a node's answer about maintenance notifications. Turn them off in redis.Options:\n\n\tMaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}"
	}
	if !busy[0].busy() {
		return "If the mutex is right, and its owner only waits for a node: use a channel of capacity 1 in its place, on which testing/synctest lets virtual time advance; or set Callers: 1, if the callers of one client wait for each other there; or test on real servers, with Backend: locktest.Process."
	}
	return ""
}
