//go:build linux

package locktest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// On real servers the same test finds the same defects, also those that only the keys show.
func TestRealServers(t *testing.T) {
	c := locktest.Config{Backend: locktest.Process, Nodes: 1, TTL: 400 * time.Millisecond, Rounds: 10}
	for _, is := range []struct {
		storm  string
		breaks checker.Property
		defect func(*oneNode)
	}{
		{"contention", "", func(*oneNode) {}},
		{"contention", checker.Lease, func(l *oneNode) { l.twoSteps = true }},
		{"holder-stands-still", checker.Contract, func(l *oneNode) { l.plainDel = true }},
	} {
		tried := locktest.Try(t, c, stormOf(t, c, is.storm), 1, func(env locktest.Env) locktest.Locker {
			l := onOneNode(env)
			is.defect(l)
			return l
		})
		if tried.Err != nil {
			t.Fatal(tried.Err)
		}
		if len(tried.Open) > 0 {
			t.Logf("the machine was too slow to tell: %s", tried.Open[0].Story())
			continue
		}
		breaks := func(f checker.Finding) bool { return f.Property == is.breaks }
		if found := slices.ContainsFunc(tried.Broken, breaks); found != (is.breaks != "") || is.breaks == "" && len(tried.Broken) > 0 {
			t.Errorf("%s: %v, want a violation of %q", is.storm, tried.Broken, is.breaks)
		}
	}
}
