package memory

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

const enough = 2 * time.Second

// life returns how long a key with that TTL exists, measured by looking every millisecond.
func (w *testWorld) life(ttl time.Duration) time.Duration {
	cmd := set("a")
	cmd.TTL = ttl
	w.wantAnswers("set", cmd, env.Yes)
	m := w.Runtime(1)
	began := m.Now(env.Monotonic)
	for {
		lived := m.Now(env.Monotonic).Sub(began)
		if answers, _ := w.ask(1, env.Command{Op: env.OpGet, Key: "key"}, patience); answers[0] == env.No || lived >= enough {
			return lived
		}
		w.sleep(1, time.Millisecond)
	}
}

// Keys expire by their node's wall clock as in Redis: in whole milliseconds, when it shows
// a later one than their end.
func TestKeysLiveByTheClockOfTheirNode(t *testing.T) {
	const ttl, ms = 100 * time.Millisecond, time.Millisecond
	node := nemesis.Machine{Node: 1}
	for name, c := range map[string]struct {
		action nemesis.Action
		want   time.Duration
	}{
		"true":           {nil, ttl + ms},
		"jumps forward":  {&nemesis.ClockJump{Machine: node, By: 40 * ms}, ttl - 40*ms + ms},
		"jumps past it":  {&nemesis.ClockJump{Machine: node, By: time.Second}, 11 * ms},
		"jumps to it":    {&nemesis.ClockJump{Machine: node, By: 90 * ms}, 11 * ms},
		"is set back":    {&nemesis.ClockJump{Machine: node, By: -time.Second}, ttl + time.Second + ms},
		"stands still":   {&nemesis.ClockFreeze{Machine: node}, enough},
		"runs too fast":  {&nemesis.ClockRate{Machine: node, PPM: 500_000}, 71 * ms},
		"runs too slow":  {&nemesis.ClockRate{Machine: node, PPM: -500_000}, 192 * ms},
		"is slewed back": {&nemesis.ClockSlew{Machine: node, By: -9 * ms, PPM: 100_000}, ttl + 9*ms + ms},
	} {
		t.Run(name, func(t *testing.T) {
			var plan nemesis.Plan
			if c.action != nil {
				plan = nemesis.Plan{{Action: c.action, Start: nemesis.At(10*ms + ms/2)}} // when nobody looks
			}
			try(t, nemesis.Setting{Plan: plan}, func(w *testWorld, client int) {
				if lived := w.life(ttl); lived != c.want {
					t.Errorf("it lived for %v, want %v", lived, c.want)
				}
			})
		})
	}
}

// A sleep follows its client's clock as it changes: here the second half takes five times as long.
func TestSleepGoesByTheClientsClock(t *testing.T) {
	slow := nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -800_000}, Start: nemesis.When(1, begin, 500*time.Millisecond)}
	try(t, nemesis.Setting{Plan: nemesis.Plan{slow}}, func(w *testWorld, _ int) {
		w.Reach(1, begin, 0)
		began := time.Now()
		w.sleep(1, time.Second)
		if slept := time.Since(began); slept != 3*time.Second {
			t.Errorf("slept for %v", slept)
		}
	})
}

// The clocks of one client can be changed, in virtual time, without affecting others.
func TestClocksOfClients(t *testing.T) {
	const long = 30 * time.Second
	one := nemesis.Machine{Client: 1}
	for name, c := range map[string]struct {
		action                    nemesis.Action
		stands                    bool // the client does, to the end of the fault
		wall, monotonic, boottime time.Duration
	}{
		"jump":     {&nemesis.ClockJump{Machine: one, By: time.Hour}, false, long + time.Hour, long, long},
		"back":     {&nemesis.ClockJump{Machine: one, By: -time.Hour}, false, long - time.Hour, long, long},
		"freeze":   {&nemesis.ClockFreeze{Machine: one}, false, 0, long, long},
		"suspend":  {&nemesis.Suspend{Client: 1}, true, long, 0, long},
		"snapshot": {&nemesis.Snapshot{Client: 1}, true, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := nemesis.Fault{Action: c.action, Start: nemesis.When(1, begin, 0)}
			if c.stands {
				f.End = nemesis.After(long)
			}
			try(t, nemesis.Setting{Plan: nemesis.Plan{f}}, func(w *testWorld, client int) {
				read := func() (now [3]env.Instant) {
					for i := range now {
						now[i] = w.Runtime(1).Now([]env.Clock{env.Wall, env.Monotonic, env.Boottime}[i])
					}
					return now
				}
				began, before := time.Now(), read()
				w.Reach(1, begin, 0)
				if !c.stands {
					w.sleep(1, long)
				}
				after := read()
				for i, want := range []time.Duration{c.wall, c.monotonic, c.boottime} {
					if got := after[i].Sub(before[i]); got != want {
						t.Errorf("clock %d went on by %v, want %v", i, got, want)
					}
				}
				if took := time.Since(began); took != long {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
