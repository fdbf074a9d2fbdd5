package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

const ms = time.Millisecond

func crash(node int, start nemesis.Trigger, end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: start, End: end}
}

func until(d time.Duration) *nemesis.Trigger { m := nemesis.At(d); return &m }

// notes are the begins and ends of faults, as in "+1" and "-1".
type notes []string

// schedule returns the scheduler of a setting's plan whose faults do nothing but to be noted.
func schedule(s nemesis.Setting) (*Scheduler, *notes) {
	n := &notes{}
	handler := FaultHandler[*notes, nemesis.Action]{Begin: func(*notes, Injection[nemesis.Action]) error { return nil }}
	injector := NewInjector(n, s.Plan, FaultHandlers[*notes]{handler}, func(e history.Event) {
		sign := map[history.Kind]string{history.FaultStart: "+", history.FaultEnd: "-"}[e.Kind]
		*n = append(*n, sign+fmt.Sprint(e.Fault))
	})
	return NewScheduler(s, injector), n
}

// valid returns a setting with the plan, which must be valid.
func valid(t *testing.T, plan ...nemesis.Fault) nemesis.Setting {
	t.Helper()
	s := nemesis.Setting{Nodes: 5, Clients: 2, Persistence: nemesis.Nothing, Horizon: time.Second, Plan: plan}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// conduct plays a script of "10ms" (time passes), "1:granted" and "1:reply/2" (a client takes a
// step), and returns which faults begin and end then.
func conduct(t *testing.T, plan nemesis.Plan, script string) (string, error) {
	t.Helper()
	c, told := schedule(valid(t, plan...))
	now := time.Duration(0)
	var seen []string
	for _, word := range strings.Fields(script) {
		var err error
		if d, notTime := time.ParseDuration(word); notTime == nil {
			now = d
			err = c.Advance(now)
		} else {
			var client, k int
			who, what, _ := strings.Cut(word, ":")
			name, reply, _ := strings.Cut(what, "/")
			_, _ = fmt.Sscan(who, &client)
			_, _ = fmt.Sscan(reply, &k)
			step, bad := env.ParseStep(name)
			if bad != nil {
				t.Fatal(bad)
			}
			err = c.Step(now, client, step, k)
		}
		if err != nil {
			return strings.Join(seen, " "), err
		}
		if len(*told) > 0 {
			seen = append(seen, word+"["+strings.Join(*told, " ")+"]")
			*told = nil
		}
	}
	return strings.Join(seen, " "), nil
}

func TestScheduler(t *testing.T) {
	second := nemesis.When(1, env.StepGranted, 0)
	second.Count = 2
	thirdReply := nemesis.When(2, env.StepReply, 0)
	thirdReply.K = 3
	cases := []struct {
		name   string
		plan   nemesis.Plan
		script string
		want   string
	}{
		{"by the clock", nemesis.Plan{crash(1, nemesis.At(10*ms), until(30*ms))}, "5ms 10ms 20ms 30ms", "10ms[+1] 30ms[-1]"},
		{"what is late comes in order", nemesis.Plan{crash(1, nemesis.At(10*ms), until(30*ms)), crash(2, nemesis.At(20*ms), nil)}, "50ms", "50ms[+1 +2 -1]"},
		{"one after another, however late", nemesis.Plan{crash(1, nemesis.At(0), nemesis.After(10*ms)), crash(1, nemesis.At(11*ms), nil)}, "5ms 20ms", "5ms[+1] 20ms[-1 +2]"},
		{"at a step", nemesis.Plan{crash(1, nemesis.When(1, env.StepGranted, 0), nemesis.After(0))}, "2:granted 1:refused 1:granted 1:granted", "1:granted[+1 -1]"},
		{"a while after a step", nemesis.Plan{crash(1, nemesis.When(1, env.StepGranted, 5*ms), nemesis.After(10*ms))}, "1ms 1:granted 5ms 6ms 15ms 16ms", "6ms[+1] 16ms[-1]"},
		{"at the second time", nemesis.Plan{crash(1, second, nil)}, "1:granted 1:granted 1:granted", "1:granted[+1]"},
		{"at the third reply", nemesis.Plan{crash(1, thirdReply, nil)}, "2:reply/1 2:reply/2 2:reply/3", "2:reply/3[+1]"},
		{"ends at a step", nemesis.Plan{{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(0), End: &second}}, "0ms 1:granted 1:granted", "0ms[+1] 1:granted[-1]"},
		{"one after another, without a gap", nemesis.Plan{crash(1, nemesis.At(0), nemesis.After(10*ms)), crash(1, nemesis.At(10*ms), until(10*ms))}, "0ms 10ms", "0ms[+1] 10ms[-1 +2 -2]"},
		{"ends at one instant in the order of planning", nemesis.Plan{crash(1, nemesis.At(0), nemesis.After(10*ms)), crash(2, nemesis.At(0), until(10*ms)), crash(3, nemesis.At(5*ms), nemesis.After(5*ms))}, "0ms 5ms 10ms", "0ms[+1 +2] 5ms[+3] 10ms[-1 -2 -3]"},
		{"begins at one instant in the order of planning", nemesis.Plan{crash(1, nemesis.When(1, env.StepGranted, 5*ms), nil), crash(2, nemesis.At(5*ms), nil)}, "0ms 1:granted 5ms", "5ms[+1 +2]"},
		{"over before it begins", nemesis.Plan{crash(1, nemesis.When(1, env.StepGranted, 0), until(5*ms))}, "0ms 5ms 1:granted 9ms", ""},
		{"jumps do not stay", nemesis.Plan{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: ms}}, {Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: ms}, Start: nemesis.At(ms)}}, "0ms 1ms", "0ms[+1] 1ms[+2]"},
		{"a jump is taken back at its end", nemesis.Plan{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: ms, Healing: nemesis.Healing{Heal: nemesis.HealStep}}, Start: nemesis.At(5 * ms), End: nemesis.After(ms)}}, "5ms 6ms", "5ms[+1] 6ms[-1]"},
		{"a slew ends by itself", nemesis.Plan{{Action: &nemesis.ClockSlew{Machine: nemesis.Machine{Node: 1}, By: ms, PPM: 100_000}, Start: nemesis.At(5 * ms)}}, "5ms 14ms 15ms 16ms", "5ms[+1] 15ms[-1]"},
	}
	for _, c := range cases {
		got, err := conduct(t, c.plan, c.script)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s (%v), want %s", c.name, got, err, c.want)
		}
	}
}

func TestSchedulerRefuses(t *testing.T) {
	plan := nemesis.Plan{crash(1, nemesis.At(0), nil), crash(1, nemesis.When(1, env.StepGranted, 0), nil)}
	const want = "fault 2 (node 1 crashes) begins while fault 1 still holds the server of node 1"
	_, err := conduct(t, plan, "0ms 1:granted")
	var overlap *nemesis.OverlapError
	if !errors.As(err, &overlap) || err.Error() != want || overlap.Fault != 2 || overlap.Holder != 1 {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A fault that its world has ended makes room for another, and its planned end does nothing.
func TestSchedulerKnowsWhatIsOver(t *testing.T) {
	s, told := schedule(valid(t,
		crash(1, nemesis.At(0), until(20*ms)),
		crash(1, nemesis.When(1, env.StepGranted, 0), until(30*ms)),
	))
	errs := []error{s.Advance(0)}
	s.Over(1, func() { *told = append(*told, "healed") })
	errs = append(errs, s.Step(10*ms, 1, env.StepGranted, 0), s.Advance(20*ms), s.Advance(30*ms))
	if err := errors.Join(errs...); err != nil || strings.Join(*told, " ") != "+1 healed -1 +2 -2" {
		t.Errorf("%v, %v", *told, err)
	}
}

// Law: whatever the clients do, and when, no two generated faults hold the same
// target at the same time.
func TestGeneratedFaultsNeverCollide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := nemesis.Setting{
			Nodes:       rapid.IntRange(1, 7).Draw(t, "nodes"),
			Clients:     rapid.IntRange(1, 4).Draw(t, "clients"),
			Persistence: rapid.SampledFrom(nemesis.Persistences).Draw(t, "persistence"),
			Horizon:     time.Duration(rapid.Int64Range(1, 1e11).Draw(t, "horizon")),
		}
		g := nemesis.Generator{Most: rapid.IntRange(1, 20).Draw(t, "most"), NoSwarm: rapid.Bool().Draw(t, "no swarm")}
		s.Plan = g.Plan(s, max(s.Horizon/3, ms), rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		c, _ := schedule(s)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "clients' seed"), 0))
		for now := time.Duration(0); now < s.Horizon; now += time.Duration(1 + random.Int64N(1+int64(s.Horizon/100))) {
			if err := c.Advance(now); err != nil {
				t.Fatal(err)
			}
			step := env.Steps()[random.IntN(len(env.Steps()))]
			if err := c.Step(now, 1+random.IntN(s.Clients), step, 1+random.IntN(s.Nodes)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
