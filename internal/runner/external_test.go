package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// dialled is a backend whose nodes can be dialled.
var dialled = runner.Backend{
	Ability:  memory.Backend{}.Ability(),
	Dialable: true,
	Open:     runner.Opener(memory.Backend{}.Open),
}

// shared is a lock of which nobody here knows anything: it asks node 1, in plain text, for a
// key that is not there yet.
type shared struct {
	runner.ClientEnv
	conn   io.ReadWriteCloser
	tries  int
	closed *int
}

func newShared(closed *int) runner.External {
	return runner.External{Name: "shared", Build: func(s runner.ClientEnv) (runner.Lock, error) {
		conn, err := s.Dial(context.Background(), 1)
		return &shared{ClientEnv: s, conn: conn, closed: closed}, err
	}}
}

func (l *shared) Close() error {
	*l.closed++
	return l.conn.Close()
}

// ask sends a command and returns the first letter of the reply, with the next.
func (l *shared) ask(format string, args ...any) string {
	reply := make([]byte, 64)
	if _, err := fmt.Fprintf(l.conn, format+"\r\n", args...); err != nil {
		return ""
	}
	n, _ := l.conn.Read(reply)
	return string(reply[:min(n, 2)])
}

func (l *shared) Lock(_ context.Context, resource string) (runner.Hold, error) {
	l.tries++
	h := sharedHold{l, resource, fmt.Sprintf("%d.%d", l.Client, l.tries)}
	l.Observer.Observe(env.Event{Step: env.StepAcquire, Resource: resource, Token: h.token, TTL: time.Second})
	if l.ask("*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1000") != "+O" {
		l.Observer.Observe(env.Event{Step: env.StepRefused, Resource: resource, Token: h.token, Err: errors.New("taken")})
		return nil, errors.New("taken")
	}
	l.Observer.Observe(env.Event{Step: env.StepGranted, Resource: resource, Token: h.token, TTL: time.Second, Until: env.Never})
	return h, nil
}

type sharedHold struct {
	*shared
	resource, token string
}

func (h sharedHold) Resource() string                            { return h.resource }
func (h sharedHold) Token() string                               { return h.token }
func (h sharedHold) Context() context.Context                    { return context.Background() }
func (h sharedHold) Check() error                                { return nil }
func (h sharedHold) Fence() uint64                               { return 0 }
func (h sharedHold) Extend(context.Context, time.Duration) error { return errors.ErrUnsupported }

func (h sharedHold) Release(context.Context) error {
	h.Observer.Observe(env.Event{Step: env.StepBeforeRelease, Resource: h.resource, Token: h.token})
	h.ask("*2\r\n$3\r\nDEL\r\n$1\r\nk")
	h.Observer.Observe(env.Event{Step: env.StepReleased, Resource: h.resource, Token: h.token, Answer: env.Yes})
	return nil
}

// sharing is two clients who want a foreign lock now and then.
func sharing(plan ...nemesis.Fault) scenarios.Scenario {
	client := scenarios.Client{Workload: "section", Resource: "r", Rounds: 10, Work: nemesis.Range{Max: ms}, Think: nemesis.Range{Max: 5 * ms}}
	s := scenarios.Scenario{
		Name: "sharing", Clients: []scenarios.Client{client, client},
		Lock: scenarios.Lock{TTL: time.Second, NodeTimeout: time.Second},
	}
	s.Nodes, s.Persistence, s.Horizon, s.Plan = 1, nemesis.Nothing, 30*time.Second, plan
	return s
}

// Law: what a foreign lock tells is judged as what our own tell, and each client's is closed
// once, behind the run.
func TestForeignLockIsJudged(t *testing.T) {
	closed := 0
	e, err := runner.PrepareExternal(dialled, sharing(), newShared(&closed))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Report.Measurements.Grants == 0 || r.Report.Finding(checker.Lease).Verdict != checker.Holds || r.Report.Finding(checker.Effect).Verdict != checker.Holds {
		t.Errorf("%d grants, %v", r.Report.Measurements.Grants, r.Report.Verdicts())
	}
	if v := r.Report.Finding(checker.Cleanup).Verdict; v != checker.NotApplicable {
		t.Errorf("of keys of which nothing is known it is said that clean-up %v", v)
	}
	if closed != 2 {
		t.Errorf("%d locks of 2 were closed", closed)
	}
}

// A lock that cannot be built ends the run, and those that were built are closed.
func TestForeignLockThatCannotBeBuilt(t *testing.T) {
	closed := 0
	second := newShared(&closed)
	build := second.Build
	second.Build = func(s runner.ClientEnv) (runner.Lock, error) {
		if s.Client == 2 {
			return nil, errors.New("no script for client 2")
		}
		return build(s)
	}
	e, err := runner.PrepareExternal(dialled, sharing(), second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), 1, nil); err == nil || !strings.Contains(err.Error(), "no script for client 2") || closed != 1 {
		t.Errorf("%d closed, %v", closed, err)
	}
}

// Law: what a foreign lock cannot be given is refused before the run, with the field.
func TestWhatForeignLocksCannotBeGiven(t *testing.T) {
	lock := runner.External{Name: "shared"}
	wants := func(b runner.Backend, s scenarios.Scenario, path, why string) {
		t.Helper()
		_, err := runner.PrepareExternal(b, s, lock)
		var unfit *runner.UnfitError
		if !errors.As(err, &unfit) || unfit.Path != path || !strings.Contains(err.Error(), why) {
			t.Errorf("%v: want one about %s, with %q", err, path, why)
		}
	}
	wants(simulator, sharing(), "lock.kind", "no lock of this program")
	wants(dialled, sharing(nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: time.Second}, Start: nemesis.At(0)}), "plan[0]", "clock-jump of a client")
	wants(dialled, sharing(nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepQuorum, 0), End: nemesis.After(time.Second)}), "plan[0]", `"quorum"`)
}

// Law: a generator draws nothing for a foreign lock that such a lock cannot be given.
func TestNothingUnbearableIsDrawn(t *testing.T) {
	s := sharing()
	s.Generate = &nemesis.Generator{Most: 9}
	e, err := runner.PrepareExternal(dialled, s, runner.External{Name: "shared"})
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for seed := range uint64(500) {
		for _, f := range runner.Draw(e, seed) {
			drawn++
			if err := runner.UnsupportedFault(f); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
	if drawn < 500 {
		t.Errorf("only %d faults were drawn", drawn)
	}
}
