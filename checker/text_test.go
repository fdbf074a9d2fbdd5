package checker_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

var expected = checker.Verdicts{
	checker.Lease: checker.Holds, checker.Section: checker.Violated,
	checker.Fence: checker.NotApplicable, checker.Contract: checker.Unknown,
}

func TestVerdictsInYAML(t *testing.T) {
	text, err := yaml.Marshal(expected)
	if err != nil {
		t.Fatal(err)
	}
	var back checker.Verdicts
	if err := yaml.Unmarshal(text, &back); err != nil || !equal(back, expected) {
		t.Errorf("%v, %v", back, err)
	}
	if err := yaml.Unmarshal([]byte("leese: holds"), &back); err == nil {
		t.Error("a property that there is not is accepted")
	}
	if err := yaml.Unmarshal([]byte("lease: held"), &back); err == nil {
		t.Error("a verdict that there is not is accepted")
	}
}

func equal(a, b checker.Verdicts) bool {
	for _, p := range checker.Properties() {
		if a[p] != b[p] {
			return false
		}
	}
	return len(a) == len(b)
}

// Two findings tell of one overlap if they have the same events and causes.
func TestSameOverlap(t *testing.T) {
	overlap := func(p checker.Property, to history.Time) checker.Finding {
		return checker.Finding{Property: p, Events: []checker.Event{{Role: checker.RoleOverlap, From: 1, To: to}}}
	}
	lease := overlap(checker.Lease, 2)
	for i, c := range []struct {
		section checker.Finding
		want    bool
	}{{overlap(checker.Section, 2), true}, {overlap(checker.Section, 3), false}, {checker.Finding{}, false}} {
		if got := checker.SameOverlap(lease, c.section); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
	if checker.SameOverlap(checker.Finding{}, checker.Finding{}) {
		t.Error("two findings of nothing tell of one overlap")
	}
}
