package rivals_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
)

var background = context.Background()

// In the calm every one of them is granted after its round trips, keeps others
// out, and is over when it is released.
func TestGrantExcludeRelease(t *testing.T) {
	for _, l := range oneKey {
		t.Run(l.name, func(t *testing.T) {
			b := play(t, l.make, nil, func(b *bench, m *rivals.Mutex) {
				h := b.lock(m)
				b.want("granted at", b.at(), time.Duration(2*l.roundtrip)*ms)
				b.wantError("check", h.Check(), nil)
				until := env.Never
				if l.expires {
					until = env.Instant(988 * ms)
				}
				b.want("until", h.Until(), until)
				b.sleep(1, 100*ms)
				b.wantError("release", h.Release(background), nil)
				b.wantError("release twice", h.Release(background), rivals.ErrReleased)
				b.wantError("check", h.Check(), rivals.ErrReleased)
				b.wantError("cause", context.Cause(h.Context()), rivals.ErrReleased)
			}, func(b *bench, m *rivals.Mutex) {
				b.sleep(2, 20*ms)
				h := b.lock(m)
				if b.at() < 100*ms {
					b.t.Errorf("granted at %v", b.at())
				}
				b.wantError("release", h.Release(background), nil)
			})
			sets, gone := 0, 0
			for _, e := range b.log {
				switch {
				case e.Kind == history.KeySet:
					sets++
				case e.Kind == history.KeyGone && e.Reason == "deleted":
					gone++
				}
			}
			b.want("keys set and deleted", [2]int{sets, gone}, [2]int{2, 2})
		})
	}
}

// A lock that another client holds is an error of its own, and its key stays; so is a node that
// does not answer, or with an error.
func TestRefused(t *testing.T) {
	for _, l := range oneKey {
		t.Run(l.name, func(t *testing.T) {
			once := func(c rivals.Config, p rivals.Ports) (*rivals.Mutex, error) {
				c.Tries = 1
				return l.make(c, p)
			}
			down := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(300 * ms), End: nemesis.After(100 * ms)}
			cut := nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{2}}}, Start: nemesis.At(500 * ms)}
			play(t, once, nemesis.Plan{down, cut}, func(b *bench, m *rivals.Mutex) {
				h := b.lock(m)
				b.sleep(1, 100*ms)
				b.wantError("release", h.Release(background), nil)
			}, func(b *bench, m *rivals.Mutex) {
				b.sleep(2, 20*ms)
				_, err := m.Lock(background, "r")
				b.wantError("taken", err, rivals.ErrTaken)
				b.sleep(2, 330*ms)
				_, err = m.Lock(background, "r")
				b.wantError("down", err, rivals.ErrNoAnswer)
				b.sleep(2, 550*ms-b.at())
				_, err = m.Lock(background, "r")
				b.wantError("cut off", err, rivals.ErrNoAnswer)
				b.want("given up at", b.at(), 600*ms)
			})
		})
	}
}

// The steps let a client stand still between any two of its requests.
func TestSteps(t *testing.T) {
	for _, l := range oneKey {
		b := play(t, l.make, nil, func(b *bench, m *rivals.Mutex) {
			b.wantError("release", b.lock(m).Release(background), nil)
		})
		b.want(l.name, b.steps(1), l.steps)
	}
}

func named(name string) maker {
	for _, l := range oneKey {
		if l.name == name {
			return l.make
		}
	}
	panic(name)
}

// A hold lasts longer if its lock can extend it; the naive locks cannot.
func TestExtend(t *testing.T) {
	for _, l := range oneKey {
		play(t, l.make, nil, func(b *bench, m *rivals.Mutex) {
			h := b.lock(m)
			b.sleep(1, 500*ms-b.at())
			err := h.Extend(background, time.Second)
			if !l.extends {
				if err == nil {
					t.Errorf("%s was extended", l.name)
				}
				return
			}
			b.wantError("extended", err, nil)
			b.want("until", h.Until(), env.Instant(1488*ms))
			b.sleep(1, 1300*ms-b.at())
			b.wantError("check", h.Check(), nil)
			for _, ttl := range []time.Duration{0, 1500 * time.Microsecond, 1001 * ms} {
				b.wantError("a TTL that cannot be", h.Extend(background, ttl), rivals.ErrConfig)
			}
			b.wantError("release", h.Release(background), nil)
			if keys := b.keys(); !strings.HasPrefix(keys, "set by 1@1ms, extended by 1@501ms") { // it may renew its holds by itself, too
				t.Errorf("%s: %s", l.name, keys)
			}
		})
	}
}

// Two look before either has set: both hold the lock, and the release of the first
// lets a third in.
func TestCheckThenSetRaces(t *testing.T) {
	b := play(t, rivals.NewCheckThenSet, nil, func(b *bench, m *rivals.Mutex) {
		h := b.lock(m)
		b.sleep(1, 10*ms)
		b.wantError("release", h.Release(background), nil)
	}, func(b *bench, m *rivals.Mutex) {
		h := b.lock(m)
		b.want("granted at", b.at(), 4*ms)
		b.sleep(2, 20*ms)
		b.wantError("check", h.Check(), nil)
	}, func(b *bench, m *rivals.Mutex) {
		b.sleep(3, 15*ms)
		b.lock(m)
		b.want("a third at", b.at(), 19*ms)
	})
	b.want("keys", b.keys(), "set by 1@3ms, overwritten by 2@3ms, set by 2@3ms, deleted by 1@15ms, set by 3@18ms")
}

// A holder that dies has the lock for ever where its key has no time to live: of
// setnx-then-expire, if it dies between the two.
func TestDeadHolders(t *testing.T) {
	kill := func(at nemesis.Trigger) nemesis.Plan {
		return nemesis.Plan{{Action: &nemesis.Kill{Client: 1}, Start: at}}
	}
	for _, c := range []struct {
		name    string
		dies    nemesis.Trigger
		forEver bool
	}{
		{"check-then-set", nemesis.When(1, env.StepGranted, 0), true},
		{"setnx-then-expire", reply(1, 1), true},
		{"setnx-then-expire", reply(1, 2), false},
		{"setnx-del", reply(1, 1), false},
		{"get-then-del", reply(1, 1), false},
		{"single-node", reply(1, 1), false},
	} {
		var after error
		b := play(t, named(c.name), kill(c.dies), func(b *bench, m *rivals.Mutex) {
			_, _ = m.Lock(background, "r")
			b.t.Errorf("%s: lives on", c.name)
		}, func(b *bench, m *rivals.Mutex) {
			b.sleep(2, 19*time.Second)
			_, after = m.Lock(until(b, 19500*ms), "r")
		})
		if got := errors.Is(after, rivals.ErrTaken); got != c.forEver {
			t.Errorf("%s, client dies at %v %d: %v, keys: %s", c.name, c.dies.Step, c.dies.K, after, b.keys())
		}
	}
}

// until is a context that client 2 ends at some time.
func until(b *bench, at time.Duration) context.Context {
	ctx, cancel := context.WithCancel(background)
	b.Runtime(2).Go("end", func() {
		b.sleep(2, at-b.at())
		cancel()
	})
	return ctx
}

// succession is three clients: the first is late with its release, the second has acquired the lock
// by then, and the third tries to. It returns whether the third got in while the second held it,
// and the result of the first's release.
func succession(t *testing.T, makes maker, plan nemesis.Plan, work time.Duration) (broken bool, told error) {
	var second *rivals.Hold
	play(t, makes, plan, func(b *bench, m *rivals.Mutex) {
		h := b.lock(m)
		b.sleep(1, work)
		told = h.Release(background)
	}, func(b *bench, m *rivals.Mutex) {
		b.sleep(2, 1002*ms)
		second = b.lock(m)
		b.sleep(2, 500*ms)
		_ = second.Release(background)
	}, func(b *bench, m *rivals.Mutex) {
		b.sleep(3, 1150*ms)
		b.lock(m)
		broken = second.Check() == nil
	})
	return broken, told
}

// A holder who is late deletes another's key, unless the node itself looks whose
// it is.
func TestLateRelease(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken bool
		told   error
	}{
		{"setnx-then-expire", true, nil},
		{"setnx-del", true, nil},
		{"get-then-del", false, rivals.ErrLost},
		{"single-node", false, rivals.ErrLost},
	} {
		broken, told := succession(t, named(c.name), nil, 1100*ms)
		if broken != c.broken || !errors.Is(told, c.told) {
			t.Errorf("%s: broken %t, the late holder was told %v", c.name, broken, told)
		}
	}
}

// If the client stands still when it has looked whose key it is, it deletes
// another's all the same. No such gap is left to single-node.
func TestGapBetweenGetAndDel(t *testing.T) {
	const work = 950 * ms
	gap := nemesis.Plan{pause(reply(1, 2), 150*ms)}
	if broken, told := succession(t, rivals.NewGetThenDel, gap, work); !broken || told != nil {
		t.Errorf("get-then-del: broken %t, the late holder was told %v", broken, told)
	}
	if broken, told := succession(t, rivals.NewGetThenDel, nil, work); broken || told != nil {
		t.Errorf("get-then-del, without the pause: broken %t, the holder was told %v", broken, told)
	}
	for _, step := range []env.Step{env.StepBeforeRelease, env.StepReply} {
		gap := nemesis.Plan{pause(nemesis.When(1, step, 0), 150*ms)}
		if step == env.StepReply {
			gap[0].Start.K = 2
		}
		if broken, _ := succession(t, rivals.NewSingleNode, gap, work); broken {
			t.Errorf("single-node is broken by a pause at %v", step)
		}
	}
}

// cutFor holds back what client 1 and the node say to each other.
func cutFor(way nemesis.Direction, from, length time.Duration) nemesis.Plan {
	return nemesis.Plan{{
		Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}, Way: way},
		Start:  nemesis.At(from), End: nemesis.After(length),
	}}
}

// try fails, and stays for what goes on in the background.
func try(want error) func(b *bench, m *rivals.Mutex) {
	return func(b *bench, m *rivals.Mutex) {
		_, err := m.Lock(background, "r")
		b.wantError("lock", err, want)
		b.sleep(1, 5*time.Second)
	}
}

// onceOf is the lock with one try.
func onceOf(makes maker) maker {
	return func(c rivals.Config, p rivals.Ports) (*rivals.Mutex, error) {
		c.Tries = 1
		return makes(c, p)
	}
}

// A key that was set, or may be, by a try that failed is deleted, also if the SET
// comes later than the first delete. The naive locks leave it.
func TestFailedTryIsGivenBack(t *testing.T) {
	lostAnswer := cutFor(nemesis.Replies, 0, 60*ms)
	lateSet := cutFor(nemesis.Requests, 0, 90*ms)
	reset := nemesis.Plan{{Action: &nemesis.Reset{Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Replies}, Start: nemesis.At(1500 * time.Microsecond)}}
	tooLate := nemesis.Plan{pause(nemesis.When(1, env.StepBeforeCheck, 0), 990*ms)}
	for _, c := range []struct {
		name string
		what string
		plan nemesis.Plan
		told error
		want string
	}{
		{"single-node", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms, deleted by 1@51ms"},
		{"single-node", "SET late", lateSet, rivals.ErrNoAnswer, "set by 1@91ms, deleted by 1@91ms"},
		{"single-node", "connection reset", reset, rivals.ErrNoAnswer, "set by 1@1ms, deleted by 1@3ms"},
		{"single-node", "validity over", tooLate, rivals.ErrValidity, "set by 1@1ms, deleted by 1@993ms"},
		{"get-then-del", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms, deleted by 1@62ms"},
		{"setnx-del", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms, expired by 0@1.002s"},
		{"setnx-then-expire", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms"},
		{"check-then-set", "answer lost", cutFor(nemesis.Replies, 3*ms, 60*ms), rivals.ErrNoAnswer, "set by 1@3ms"},
	} {
		t.Run(c.name+", "+c.what, func(t *testing.T) {
			b := play(t, onceOf(named(c.name)), c.plan, try(c.told))
			b.want("keys", b.keys(), c.want)
		})
	}
}

// A delete that overtakes the SET is sent again, until there is something to
// delete.
func TestDeleteThatOvertakesTheSet(t *testing.T) {
	slow := nemesis.Plan{{
		Action: &nemesis.Latency{
			Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Requests,
			Add: nemesis.Distribution{Range: nemesis.Range{Min: 200 * ms, Max: 200 * ms}},
		},
		Start: nemesis.At(0), End: nemesis.After(ms),
	}}
	b := play(t, onceOf(rivals.NewSingleNode), slow, try(rivals.ErrNoAnswer))
	b.want("keys", b.keys(), "set by 1@201ms, deleted by 1@205ms") // asked at 50, 102 and 204 ms
}
