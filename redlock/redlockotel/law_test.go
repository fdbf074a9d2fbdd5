package redlockotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// storms draws a plan of faults of every kind that the simulator has.
func storms(t *rapid.T, s nemesis.Setting) nemesis.Plan {
	weights := nemesis.Weights{}
	for _, kind := range []nemesis.Kind{"partition", "latency", "loss", "reset", "crash", "pause", "clock-jump", "clock-rate", "suspend", "cancel", "evict", "kill"} {
		weights[kind] = 1
	}
	g, err := nemesis.Generator{Faults: weights, Most: 5}.Only(s, nemesis.Ability{Name: "sim", Kinds: sim.Faults(), Features: sim.Features()})
	if err != nil {
		t.Fatal(err)
	}
	return g.Plan(s, time.Second, nemesis.Stream(rapid.Uint64().Draw(t, "plan"), nemesis.PlanStream))
}

// settings draws how the lock is set.
func settings(t *rapid.T) redlock.Config {
	c := config()
	c.Tries = 3
	c.Fence = rapid.Bool().Draw(t, "fence")
	if rapid.Bool().Draw(t, "watchdog") {
		c.Watchdog = redlock.Watchdog{Every: 300 * ms, Limit: 4}
	}
	if rapid.Bool().Draw(t, "quarantine") {
		c.Quarantine = time.Second
	}
	return c
}

// user is a client who does with locks whatever comes.
type user struct {
	*scene
	m     *redlock.Mutex
	holds []*redlock.Hold
}

// act does what a number says.
func (u *user) act(what int) {
	ctx := context.Background()
	resource := string(rune('a' + what%3))
	switch what / 3 {
	case 0:
		u.keep(u.client.Lock(ctx, u.m, resource))
	case 1:
		u.keep(u.m.TryLock(ctx, resource))
	case 2: // and gives up soon
		short, cancel := context.WithCancel(ctx)
		u.Runtime(1).Go("canceller", func() { u.sleep(3 * ms); cancel() })
		u.keep(u.m.Lock(short, resource))
	case 3:
		if len(u.holds) > 0 {
			_ = u.holds[0].Extend(ctx, time.Second)
		}
	case 4:
		if len(u.holds) > 0 {
			_ = u.holds[0].Release(ctx)
			u.holds = u.holds[1:]
		}
	case 5: // two at once
		if len(u.holds) > 0 {
			h := u.holds[0]
			u.Runtime(1).Go("extension", func() { _ = h.Extend(ctx, time.Second) })
			u.sleep(ms)
			_ = h.Release(ctx)
		}
	default:
		u.sleep(time.Duration(what%3) * 200 * ms)
	}
}

func (u *user) keep(h *redlock.Hold, err error) {
	if err == nil {
		u.holds = append(u.holds, h)
	}
}

// Law: whatever happens and whichever clients die, every span ends after mutex and telemetry are
// closed, and not before it starts, no hold counts as active, and every request is a child of its
// operation. If the client lives, closing the mutex is enough.
func TestEverySpanEnds(t *testing.T) {
	died := 0
	for range 20 { // a hundred plans may well be such that nobody dies
		rapid.Check(t, func(rt *rapid.T) {
			if everySpanEnds(t, rt) {
				died++
			}
		})
		if died > 0 {
			return
		}
	}
	t.Error("no client has died")
}

// everySpanEnds plays a plan, and reports whether the client died of it.
func everySpanEnds(t *testing.T, rt *rapid.T) (died bool) {
	s := setting(5, nil)
	s.Plan = storms(rt, s)
	acts := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 25).Draw(rt, "acts")
	c, lived := open(t, s), false
	c.sequential = rapid.Bool().Draw(rt, "sequential")
	c.run(settings(rt), func(m *redlock.Mutex) {
		u := &user{scene: c, m: m}
		for _, what := range acts {
			u.act(what)
		}
		_ = m.Close(context.Background())
		lived = true
	})
	if lived {
		wantAllEnded(rt, c.recorder)
	} else {
		died = true
	}
	c.client.Close()
	wantAllEnded(rt, c.recorder)
	if held := c.measured()["redlock.hold.active{}"]; held != 0 {
		rt.Errorf("%d are held", held)
	}
	for _, span := range c.recorder.Ended() {
		if span.EndTime().Before(span.StartTime()) {
			rt.Errorf("%s ends before it begins", line(span))
		}
		if !strings.HasPrefix(span.Name(), "redlock ") && !span.Parent().IsValid() {
			rt.Errorf("%s hangs on nothing", line(span))
		}
	}
	return died
}

// Law: who is watched does the same, at the same times: telemetry changes nothing.
func TestTelemetryChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := setting(5, nil)
		s.Plan = storms(rt, s)
		acts := rapid.SliceOfN(rapid.IntRange(3, 20), 1, 15).Draw(rt, "acts")
		settings := settings(rt)
		play := func(watched bool) (steps []string) {
			c := open(t, s)
			note := noting{c, &steps}
			err := c.Run(context.Background(), func(int) {
				nodes, observer := c.Nodes(1), env.Observer(note)
				if watched {
					nodes, observer = c.client.Nodes(nodes), c.client.Observer(observer)
				}
				m, err := redlock.New(settings, c.Runtime(1), nodes, observer)
				if err != nil {
					c.Error(err)
					return
				}
				u := &user{scene: c, m: m}
				for _, what := range acts {
					u.act(what)
				}
			})
			c.ok(err)
			return steps
		}
		if bare, watched := fmt.Sprint(play(false)), fmt.Sprint(play(true)); bare != watched {
			rt.Errorf("alone:\n%s\nwatched:\n%s", bare, watched)
		}
	})
}

// noting writes down each step with its time.
type noting struct {
	*scene
	steps *[]string
}

func (n noting) Observe(e env.Event) {
	*n.steps = append(*n.steps, fmt.Sprintf("%d %v %s %v %d %v\n", n.Runtime(1).Now(env.Monotonic), e.Step, e.Token, e.Until, e.Reply.Node, e.Err))
	n.Reach(1, e.Step, e.K)
}
