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

// reading is how much a client's clocks have advanced since the last reading.
type reading [3]time.Duration

func (w *testWorld) read(since *reading) (now reading) {
	m := w.Runtime(1)
	for which := range now {
		now[which] = time.Duration(m.Now(env.Clock(which)))
	}
	if since != nil {
		for which := range now {
			now[which] -= since[which]
		}
	}
	return now
}

// The effect of each fault on a client's wall, monotonic and boot-time clocks, in hours, so
// that a slow machine does not matter.
func TestClocksOfAClient(t *testing.T) {
	for name, c := range map[string]struct {
		fault nemesis.Action
		ends  bool
		wall  time.Duration // what it has gained when the fault is there
		left  time.Duration // and when it has ended
	}{
		"a jump":                {&nemesis.ClockJump{Machine: client1, By: 2 * slack}, false, 2 * slack, 2 * slack},
		"a jump back":           {&nemesis.ClockJump{Machine: client1, By: -2 * slack}, false, -2 * slack, -2 * slack},
		"a jump that is undone": {&nemesis.ClockJump{Machine: client1, By: 2 * slack, Healing: nemesis.Healing{Heal: nemesis.HealStep}}, true, 2 * slack, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := nemesis.Fault{Action: c.fault, Start: nemesis.When(1, begin, 0)}
			if c.ends {
				over := nemesis.When(1, end, 0)
				f.End = &over
			}
			w := newTestWorld(t, nemesis.Setting{Plan: nemesis.Plan{f}})
			w.mustRun(func(int) {
				before := w.read(nil)
				for _, at := range []struct {
					step env.Step
					want time.Duration
				}{{begin, c.wall}, {end, c.left}} {
					w.Reach(1, at.step, 0)
					got := w.read(&before)
					if off := got[env.Wall] - at.want; off < 0 || off > slack {
						t.Errorf("%v: the wall clock has gained %v, want %v", at.step, got[env.Wall], at.want)
					}
					if got[env.Monotonic] > slack || got[env.Boottime] > slack || got[env.Monotonic] < 0 {
						t.Errorf("%v: the other clocks have moved: %v", at.step, got)
					}
				}
			})
		})
	}
}

// A frozen wall clock stands still. A client whose machine was suspended misses that time
// on its monotonic clock only; a restored one misses it on all clocks.
func TestClocksThatStandStill(t *testing.T) {
	const lasts = 100 * time.Millisecond
	for name, c := range map[string]struct {
		fault  nemesis.Action
		stands [3]bool // by env.Clock
	}{
		"freeze":   {&nemesis.ClockFreeze{Machine: client1}, [3]bool{env.Wall: true}},
		"suspend":  {&nemesis.Suspend{Client: 1}, [3]bool{env.Monotonic: true}},
		"snapshot": {&nemesis.Snapshot{Client: 1}, [3]bool{true, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestWorld(t, nemesis.Setting{Clients: 2, Plan: nemesis.Plan{{Action: c.fault, Start: nemesis.When(1, begin, 0), End: nemesis.After(lasts)}}})
			w.mustRun(func(client int) {
				if client == 2 {
					return
				}
				earliest := time.Now()
				before := w.read(nil)
				began := time.Now()
				w.Reach(1, begin, 0)
				for time.Since(began) < 2*lasts { // its own clocks are not to be waited by
					time.Sleep(time.Millisecond)
				}
				least := time.Since(began)
				got, most := w.read(&before), time.Since(earliest)
				for which, stands := range c.stands {
					if stands && most-got[which] < lasts-time.Millisecond || !stands && got[which] < least-time.Millisecond {
						t.Errorf("of %v to %v the %v clock has counted %v", least, most, env.Clock(which), got[which])
					}
				}
			})
		})
	}
}

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
