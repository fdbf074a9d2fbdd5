package mutextest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// brokenEnv names the nodes on which the test program runs, instead of its tests, the tests of a
// lock.
const brokenEnv = "LOCKSTORM_BROKEN_NODES"

// broken are nodes on which no lock can keep its promises.
var broken = map[string]func(env.Command) env.Answer{
	"forget": func(env.Command) env.Answer { return env.Yes },
	"refuse": func(env.Command) env.Answer { return env.No },
	"hang":   nil, // a request does not even end with its context
}

// Whatever a lock does wrong, its tests end with a message, before the time limit of go test.
func TestBrokenLockFails(t *testing.T) {
	if name := os.Getenv(brokenEnv); name != "" {
		patience, hang, brief = 200*ms, time.Second, 50*ms
		Run(t, brokenPlace{broken[name]})
		return
	}
	for name, want := range map[string]string{
		"forget": "even after 200ms the nodes hold",
		"refuse": "context deadline exceeded",
		"hang":   "TestBrokenLockFails/lock_and_release: a call of the lock has not returned 200ms after its context ended",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenLockFails$", "-test.timeout=9m")
			c.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "test timed out") {
				t.Errorf("%v, want an error and %q:\n%s", err, want, out)
			}
		})
	}
}

// brokenPlace is three nodes that give the same answer to every request; nil: none, ever.
type brokenPlace struct{ answer func(env.Command) env.Answer }

func (p brokenPlace) Connect(*testing.T) env.Nodes { return p }

func (brokenPlace) Look(*testing.T, int, string) (string, time.Duration) { return "", 0 }

func (brokenPlace) Len() int { return 3 }

func (p brokenPlace) Send(to env.NodeSet, c env.Command, _ env.Instant) env.Round {
	return &brokenRound{p, c, to}
}

type brokenRound struct {
	brokenPlace
	command env.Command
	left    env.NodeSet
}

func (r *brokenRound) Next(context.Context, env.Instant) (env.Reply, error) {
	if r.answer == nil {
		select {}
	}
	if r.left == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	node := r.left.First()
	r.left = r.left.Without(node)
	return env.Reply{Node: node, Answer: r.answer(r.command)}, nil
}
