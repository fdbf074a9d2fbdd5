package external_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
)

// violation is a finding about a client, with what happened and the assumption that was broken.
func violation(p checker.Property, client int, what checker.Role, broken checker.Assumption) checker.Finding {
	return checker.Finding{
		Property: p, Verdict: checker.Violated, Count: client,
		Events: []checker.Event{{Role: checker.RoleFault, Text: string(p)}, {Role: what, Client: client}},
		Causes: []checker.Cause{{Assumption: broken}},
	}
}

// Law: a storm refers to an earlier one only if all that it violates was shown before, by the same
// events and the same cause, whoever did it. Otherwise what is new is shown first.
func TestWhichFailureIsKnown(t *testing.T) {
	lease := violation(checker.Lease, 1, checker.RoleOverlap, checker.ClocksAgree)
	storms := map[string][]checker.Finding{
		"first":            {lease},
		"another client":   {violation(checker.Lease, 2, checker.RoleOverlap, checker.ClocksAgree)},
		"another cause":    {violation(checker.Lease, 1, checker.RoleOverlap, checker.KeepsUntilExpiry)},
		"another event":    {violation(checker.Lease, 1, checker.RoleAccess, checker.ClocksAgree)},
		"another property": {lease, violation(checker.Contract, 1, checker.RoleLoss, "")},
		"both":             {lease, violation(checker.Contract, 3, checker.RoleLoss, "")},
	}
	d, got := external.Defects{}, []string(nil)
	for _, name := range []string{"first", "another client", "another cause", "another event", "another property", "both"} {
		news, like := d.Add(name, storms[name])
		got = append(got, string(news)+like)
	}
	if want := []string{"lease", "first", "lease", "lease", "contract", "first"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Law: however many faults precede a violation, a failure on a screen says what the violation was, what
// broke and what helps.
func TestABriefHasTheViolation(t *testing.T) {
	f := checker.Finding{Property: checker.Contract, Verdict: checker.Violated, Count: 1, Causes: []checker.Cause{{Assumption: checker.OnlyHolder}}}
	for i := range 40 {
		f.Events = append(f.Events, checker.Event{Role: checker.RoleFault, Text: fmt.Sprintf("fault %d of a plan with a great many faults, each of which takes half a line", i+1)})
	}
	f.Events = append(f.Events, checker.Event{Role: checker.RoleLoss, Client: 7, Text: "node 1 deleted the key of invoice-7"})
	violation := checker.Finding{Events: f.Events[40:]}.Story()
	lines := external.Judgment{Broken: []checker.Finding{f}}.Brief()
	if len(lines) > 10 {
		t.Errorf("%d lines do not fit a screen", len(lines))
	}
	text := strings.Join(lines, " ")
	_, _, helps := checker.OnlyHolder.Explain()
	for _, want := range []string{violation, "fault 40 of", "earlier faults", checker.OnlyHolder.Text(), helps} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "fault 1 of") {
		t.Errorf("the earliest fault is there, and the latest are cut off:\n%s", text)
	}
}
