//go:build linux

package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// slowMachine is a machine that wakes sleepers late by given times, and then ends.
type slowMachine struct {
	env.Runtime
	now  env.Instant
	late []time.Duration
}

func (m *slowMachine) Now(env.Clock) env.Instant { return m.now }

func (m *slowMachine) Sleep(_ context.Context, until env.Instant) error {
	m.now = until.Add(m.late[0])
	m.late = m.late[1:]
	if len(m.late) == 0 {
		return errors.New("over")
	}
	return nil
}

func TestProbeKeepsTheGreatestLateness(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		what string
		late []time.Duration
		slip time.Duration
	}{
		{"in time", []time.Duration{0, 0}, 0},
		{"late once, and then less so", []time.Duration{ms, 45 * ms, 3 * ms, -ms}, 45 * ms},
		{"late at the end of the run", []time.Duration{ms, 7 * ms}, 7 * ms},
		{"woken early, by the end of the run", []time.Duration{-ms}, 0},
	} {
		var p probe
		p.run(t.Context(), &slowMachine{late: c.late})
		if got := p.max(); got != c.slip {
			t.Errorf("%s: a slip of %v, want %v", c.what, got, c.slip)
		}
	}
}

// Lateness counts from when an action of the plan was due, whether somebody slept meanwhile
// or not.
func TestSchedulerIsLate(t *testing.T) {
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(time.Hour)}
	for what, due := range map[string]func(*testWorld){
		"a fault":           func(w *testWorld) { w.history.origin = w.history.origin.Add(-3 * time.Hour) },
		"a move of a fault": func(w *testWorld) { w.plan.later(w.ground.now()-int64(2*time.Hour), func() {}) },
	} {
		w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{pause}})
		w.history.begin()
		due(w)
		if _, err := w.plan.advance(); err != nil {
			t.Fatal(err)
		}
		if got := w.SchedulingLag(); got < 2*time.Hour {
			t.Errorf("%s is two hours late: a slip of %v", what, got)
		}
	}
}
