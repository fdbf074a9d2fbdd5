//go:build linux

package live

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// slack is more than any of these tests is late, and less than what they measure.
const slack = time.Hour

var client1 = nemesis.Machine{Client: 1}

// Sleep follows the client's clock as it changes.
func TestSleepGoesByTheClientsClock(t *testing.T) {
	slower(t, func(nap time.Duration) error { return sleepsByTheClock(t, nap) })
}

// sleepsByTheClock slows a client's clock down in the middle of a sleep, if the machine is
// fast enough.
func sleepsByTheClock(t *testing.T, nap time.Duration) (undecided error) {
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.ClockRate{Machine: client1, PPM: -800_000}, Start: nemesis.When(1, begin, nap/2)},
	}})
	w.mustRun(func(int) {
		m := w.Runtime(1)
		w.Reach(1, begin, 0)
		began, until := time.Now(), m.Now(env.Monotonic).Add(nap)
		if err := m.Sleep(context.Background(), until); err != nil {
			t.Fatal(err)
		}
		if now := m.Now(env.Monotonic); now < until {
			t.Errorf("woken up %v too early", until.Sub(now))
		}
		// The second half takes five times as long.
		if slept := time.Since(began); slept < 2*nap {
			undecided = fmt.Errorf("slept for %v of %v", slept, nap)
		}
	})
	return undecided
}

// The end of a lease is recorded when the watched clock reaches it. A jump of the wall
// clock, and of no other, brings it forward.
func TestLapseComesWithTheClockThatJumps(t *testing.T) {
	w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.ClockJump{Machine: client1, By: 2 * slack}, Start: nemesis.When(1, begin, 0)},
	}})
	w.mustRun(func(int) {
		for _, which := range []env.Clock{env.Wall, env.Monotonic} {
			w.Watch(1, which, "r", which.String(), w.Runtime(1).Now(which).Add(slack))
		}
		w.Reach(1, begin, 0)
		w.Record(history.Event{Kind: history.Acquire, Client: 1, Resource: "r", Token: "after"})
	})
	w.wantKinds(history.FaultStart, history.Lapse, history.Acquire)
	if e := w.event(history.Lapse); e.Token != env.Wall.String() {
		t.Errorf("%+v", e)
	}
}
