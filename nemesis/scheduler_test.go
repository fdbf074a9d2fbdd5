package nemesis_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// notes is a target that records its calls, as in "+1" and "-1".
type notes []string

func (n *notes) Begin(number int) error {
	*n = append(*n, fmt.Sprintf("+%d", number))
	return nil
}

func (n *notes) End(number int) error {
	*n = append(*n, fmt.Sprintf("-%d", number))
	return nil
}

// conduct plays a script of "10ms" (time passes), "1:granted" and "1:reply/2" (a client takes a
// step), and returns the calls of the target with their times.
func conduct(t *testing.T, plan nemesis.Plan, script string) (string, error) {
	t.Helper()
	var told notes
	s := setting(plan...)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	c := nemesis.NewScheduler(s, &told)
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
		if len(told) > 0 {
			seen = append(seen, word+"["+strings.Join(told, " ")+"]")
			told = nil
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
	if _, err := conduct(t, plan, "0ms 1:granted"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A fault that its world has ended makes room for another, and its planned end does nothing.
func TestSchedulerKnowsWhatIsOver(t *testing.T) {
	var told notes
	plan := nemesis.Plan{crash(1, nemesis.At(0), until(20*ms)), crash(1, nemesis.At(10*ms), until(30*ms))}
	s := setting(plan[0], nemesis.Fault{Action: plan[1].Action, Start: nemesis.When(1, env.StepGranted, 0), End: plan[1].End})
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	c := nemesis.NewScheduler(s, &told)
	errs := []error{c.Advance(0)}
	c.Over(1)
	errs = append(errs, c.Step(10*ms, 1, env.StepGranted, 0), c.Advance(20*ms), c.Advance(30*ms))
	if err := errors.Join(errs...); err != nil || strings.Join(told, " ") != "+1 +2 -2" {
		t.Errorf("%v, %v", told, err)
	}
}
