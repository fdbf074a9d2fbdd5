package runner_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
)

// allocations returns how many allocations f makes.
func allocations(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// Law: a simulated cycle makes few allocations. They are counted and not timed, so the test says
// the same on every machine. Who makes a cycle allocate more has to say why, here.
//
// Of the 12 of one client, the lock needs 5 for the try, its token, the hold and two closures
// for what goes on in the background, 3 for the hold's context, and 4 for the tasks of the
// watch and the drains.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		name               string
		clients, resources int
		retry              nemesis.Range
		most               float64 // for each grant
	}{
		{"one client", 1, 1, patient, 13},
		{"ten clients, 64 resources", 10, 64, patient, 14},
		{"ten clients that fight", 10, 1, hasty, 65},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(rounds int) float64 {
				s := cycles(c.clients, c.resources, rounds)
				s.Lock.Retry = c.retry
				e := prepared(t, simulator, s)
				return allocations(func() { runOnce(t, e) })
			}
			const short, long = 100, 400 // rounds of each client
			if got := (run(long) - run(short)) / float64((long-short)*c.clients); got > c.most {
				t.Errorf("%.1f allocations for each grant, want at most %v: go test ./internal/runner -run '^$' -bench Cycles -memprofile mem.out -memprofilerate 1", got, c.most)
			}
		})
	}
	t.Run("a small world", func(t *testing.T) {
		e := prepared(t, simulator, smallWorld())
		runOnce(t, e)
		if got := allocations(func() { runOnce(t, e) }); got > 850 {
			t.Errorf("%v allocations, want at most 850", got)
		}
	})
}

func runOnce(t *testing.T, e runner.Experiment) {
	t.Helper()
	if _, err := e.Run(context.Background(), 1, nil); err != nil {
		t.Fatal(err)
	}
}
