package locktest_test

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/locktest"
)

// Law: tests in parallel wait for each other's runs, for no two worlds in memory can be there
// at a time.
func TestParallel(t *testing.T) {
	c := locktest.Config{Nodes: 1, Rounds: 3}
	c.Storms = []locktest.Storm{stormOf(t, c, "calm"), stormOf(t, c, "holder-dies")}
	for _, name := range []string{"one", "another"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			locktest.Run(t, c, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
		})
	}
}

// An Env that nobody has made says so.
func TestEnvOfNobody(t *testing.T) {
	if conn, err := (locktest.Env{}).Dial(context.Background(), "tcp", "233.252.0.1:6379"); conn != nil || err == nil {
		t.Errorf("an Env of nobody dials: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an Env of nobody cleans up")
		}
	}()
	locktest.Env{}.Cleanup(func() error { return nil })
}
