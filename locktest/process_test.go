//go:build linux

package locktest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// On real servers the same test finds the same defect.
func TestRealServers(t *testing.T) {
	c := locktest.Config{Backend: locktest.Process, Nodes: 1, TTL: 400 * time.Millisecond, Rounds: 10}
	for _, want := range []bool{false, true} {
		tried := locktest.Try(t, c, stormOf(t, c, "contention"), 1, func(env locktest.Env) locktest.Locker {
			l := onOneNode(env)
			l.twoSteps = want
			return l
		})
		if tried.Err != nil {
			t.Fatal(tried.Err)
		}
		if slices.ContainsFunc(tried.Open, func(f checker.Finding) bool { return f.Property == checker.Lease }) {
			t.Logf("the machine was too slow to tell: %s", tried.Open[0].Story())
			continue
		}
		if got := slices.ContainsFunc(tried.Broken, func(f checker.Finding) bool { return f.Property == checker.Lease }); got != want {
			t.Errorf("asked, then set: %v; V1 is violated: %v", want, got)
		}
	}
}
