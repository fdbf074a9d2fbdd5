package external_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
)

// violation is a finding about a client, with what happened and the assumption that was broken.
func violation(p checker.Property, client int, what checker.StatementKind, broken checker.Assumption) checker.Finding {
	return checker.Finding{
		Property: p, Verdict: checker.Violated, Count: client,
		Events: []checker.Statement{{Kind: checker.FaultInjected, Detail: string(p)}, {Kind: what, Client: client}},
		Causes: []checker.Cause{{Assumption: broken}},
	}
}

// Law: a storm refers to an earlier one only if all that it violates was shown before, by the same
// events and the same cause, whoever did it. Otherwise what is new is shown first.
func TestWhichFailureIsKnown(t *testing.T) {
	lease := violation(checker.Lease, 1, checker.Overlap, checker.ClocksAgree)
	storms := map[string][]checker.Finding{
		"first":            {lease},
		"another client":   {violation(checker.Lease, 2, checker.Overlap, checker.ClocksAgree)},
		"another cause":    {violation(checker.Lease, 1, checker.Overlap, checker.KeepsUntilExpiry)},
		"another event":    {violation(checker.Lease, 1, checker.LateExtension, checker.ClocksAgree)},
		"another property": {lease, violation(checker.Contract, 1, checker.KeyDeleted, "")},
		"both":             {lease, violation(checker.Contract, 3, checker.KeyDeleted, "")},
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
