package locktest_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/locktest"
)

// Law: an invalid configuration is an error that names the field.
func TestFieldsThatCannotBe(t *testing.T) {
	for field, c := range map[string]locktest.Config{
		"Backend":     {Backend: 2},
		"Nodes":       {Nodes: -1},
		"Clients":     {Clients: 1001},
		"TTL":         {TTL: 1500 * time.Microsecond},
		"Rounds":      {Rounds: 1 << 62},
		"Runs":        {Runs: -1},
		"Work":        {Work: -1},
		"Think":       {Think: -1},
		"Extend":      {Extend: -1},
		"Patience":    {Patience: 1 << 62},
		"Workload":    {Workload: "misuse"},
		"Guard":       {Guard: "dog"},
		"Persistence": {Persistence: "paper"},
		"Bounds":      {Bounds: history.Bounds{Grant: -1}},
		"Promises":    {Promises: []checker.Property{"V1"}},
		"Storms":      {Storms: []locktest.Storm{}},
		"Storms[0]":   {Storms: []locktest.Storm{{Name: "a", Runs: -1}}},
		"Storms[2]":   {Storms: []locktest.Storm{{Name: "a"}, {Name: "b"}, {Name: "c", TTL: time.Microsecond}}},
		"Storms[1]":   {Storms: []locktest.Storm{{Name: "a"}, {Name: "a"}}},
	} {
		err := locktest.Try(t, c, locktest.Storm{Name: "calm"}, 1, nil).Err
		var wrong *locktest.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field || !strings.HasPrefix(err.Error(), "locktest.Config."+field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A mistake in a list of properties names the constants, and the codes that pages use.
func TestPropertiesAreNamed(t *testing.T) {
	err := locktest.Try(t, locktest.Config{Promises: []checker.Property{"V1"}}, locktest.Storm{Name: "calm"}, 1, nil).Err
	const want = `locktest.Config.Promises: unknown property "V1": want one of checker.Backing (B), checker.Lease (V1), checker.Section (V2), checker.Effect (V3), ` +
		`checker.Fence (V4), checker.DeadlockFreedom (L1), checker.FaultTolerance (L2), checker.Cleanup (L3), checker.Contract (C)`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// Law: a configuration that would test nothing does not pass: more rounds than a run can
// last for, or zero re-runs.
func TestWhatTriesNothingIsRefused(t *testing.T) {
	if err := locktest.Try(t, locktest.Config{}, locktest.Storm{Name: "calm", Rounds: 1 << 62}, 1, nil).Err; err == nil || !strings.Contains(err.Error(), "horizon") {
		t.Errorf("rounds of a storm for ever: %v", err)
	}
	text := runInner(t, "del", t.TempDir(), "-locktest.witness=nowhere", "-locktest.reruns=0")
	if !strings.Contains(text, "-locktest.reruns: 0: want at least 1") {
		t.Errorf("no time again: %s", text)
	}
}

// Law: each default storm, printed and loaded, is the same, with any number of nodes.
func TestStormsArePrintedAsTheyAreLoaded(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 5} {
		c := locktest.Config{Nodes: nodes}
		for _, s := range locktest.Storms(c) {
			var b strings.Builder
			if err := s.Print(&b); err != nil {
				t.Fatal(err)
			}
			if got := loaded(t, b.String()); !reflect.DeepEqual(got, s) {
				t.Errorf("%d nodes: %s is loaded as\n%+v, and is\n%+v", nodes, s.Name, got, s)
			}
		}
	}
}

// An invalid storm file is an error with its name and the line.
func TestStormsThatCannotBeLoaded(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\nplan:\n  - crush: {node: 1}\n": "line 3",
		"name: a\nthink: -1s\n":                  "line 2",
		"":                                       "empty",
	} {
		path := filepath.Join(t.TempDir(), "storm.yaml")
		testkit.Write(t, path, text)
		if _, err := locktest.LoadStorm(path); err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
