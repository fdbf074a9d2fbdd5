package redsynctest_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/redsynctest"
	"github.com/lockstorm/lockstorm/nemesis"
)

// prompt are options by which a node that does not answer costs little.
func prompt(env locktest.Env) *redis.Options {
	patience := env.TTL / 20
	return &redis.Options{
		ContextTimeoutEnabled: true, MaxRetries: -1,
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, PoolTimeout: patience,
	}
}

func tuned(env locktest.Env) locktest.Locker {
	return redsynctest.New(env, redsync.New(redsynctest.Pools(env, prompt(env))...), redsync.WithFailFast(true))
}

func byDefault(env locktest.Env) locktest.Locker {
	return redsynctest.New(env, redsync.New(redsynctest.Pools(env, nil)...))
}

// brief is the configuration of tests that need few grants.
var brief = redsynctest.Config(locktest.Config{Runs: 2, Rounds: 12})

// Law: what is tested is the user's configuration. With the defaults of go-redis nobody acquires a
// lock with a short TTL when one node has lost power, and with prompt options somebody does.
func TestOptionsOfTheClientCount(t *testing.T) {
	c := externaltest.Named(t, brief, "contention", "node-comes-back-late", "node-off")
	if got := externaltest.Broken(t, c, byDefault); !slices.Equal(got, []string{"node-off L1"}) {
		t.Errorf("by default %q is broken, not L1 in node-off alone", got)
	}
	if got := externaltest.Broken(t, c, tuned); len(got) > 0 {
		t.Errorf("with prompt options %q is broken", got)
	}
}

// extendsLate is a storm in which a holder stands still when it is about to extend, until another
// has had the lock and released it.
func extendsLate(ttl time.Duration) locktest.Storm {
	late := &nemesis.Partition{Links: nemesis.Links{Clients: []int{2}}} // so that client 1 is the first holder
	return locktest.Storm{
		Name: "extends-too-late", Work: 2 * ttl, Rounds: 2,
		Plan: nemesis.Plan{
			{Action: late, Start: nemesis.At(0), End: nemesis.After(ttl / 3)},
			{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepExtend, 0), End: new(nemesis.When(2, env.StepReleased, time.Millisecond))},
		},
	}
}

// Law: the options of mutexes count, too. An extension that sets keys anew that are gone breaks V1.
func TestOptionsOfMutexesCount(t *testing.T) {
	c := redsynctest.Config(locktest.Config{Runs: 2, Clients: 2, TTL: 8 * time.Second, Extend: 2 * time.Second, Workload: "checked"})
	c.Storms = []locktest.Storm{extendsLate(c.TTL)}
	for _, wrong := range []bool{false, true} {
		options := []redsync.Option{redsync.WithExpiry(time.Hour), redsync.WithFailFast(true)} // the TTL wins
		if wrong {
			options = append(options, redsync.WithSetNXOnExtend())
		}
		broken := externaltest.Broken(t, c, func(env locktest.Env) locktest.Locker {
			return redsynctest.New(env, redsync.New(redsynctest.Pools(env, prompt(env))...), options...)
		})
		if slices.Contains(broken, "extends-too-late V1") != wrong {
			t.Errorf("WithSetNXOnExtend: %v, and %q is broken", wrong, broken)
		}
	}
}

// TestNoLock has to fail: [TestRunFails] runs it.
func TestNoLock(t *testing.T) {
	if !externaltest.Inner() {
		return
	}
	redsynctest.Run(t, func(env locktest.Env) *redsync.Redsync {
		env.Must(fmt.Errorf("no lock on %d nodes", len(env.Addrs)))
		return nil
	})
}

// Law: Run tests the lock that the function makes.
func TestRunFails(t *testing.T) { externaltest.Failing(t, "TestNoLock", "no lock on 5 nodes") }

// Law: the worked example of docs/test-your-lock.md does what the page says: with the defaults of
// go-redis the test fails in the storm node-off by L1, and with two options it passes there.
func TestWorkedExample(t *testing.T) {
	program := filepath.Join(t.TempDir(), "locks.test")
	if text, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", program, "./testdata/checkout").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	command := exec.CommandContext(t.Context(), program, "-test.v", "-test.run=/^(calm|node-off)$")
	command.Dir = t.TempDir() // failed runs are stored there
	text, err := command.CombinedOutput()
	if err == nil {
		t.Error("nothing has failed")
	}
	for _, want := range []string{
		"--- FAIL: TestLocksInStorm/node-off", "L1 (deadlock freedom) is violated, by the lock TestLocksInStorm",
		"--- PASS: TestLocksInStorm/calm", "--- PASS: TestPromptLocksInStorm/calm", "--- PASS: TestPromptLocksInStorm/node-off",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
