package checker_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// A metamorphic law says how a verdict moves when a history is changed, whatever the
// verdict is.

// TestNamesAndDatesDoNotMatter: other names for clients, nodes, resources and tokens, and
// another hour, change no verdict.
func TestNamesAndDatesDoNotMatter(t *testing.T) {
	repeat(t, 3_000, func(t *rapid.T) {
		header, events := drawTurmoil(t)
		clients := rapid.Permutation([]int{1, 2, 3, 4}).Draw(t, "clients")
		nodes := rapid.Permutation([]int{1, 2, 3}).Draw(t, "nodes")
		later := history.Time(rapid.IntRange(0, 50).Draw(t, "later"))
		again := slices.Clone(events)
		for i := range again {
			e := &again[i]
			e.Time += later
			if e.Client > 0 {
				e.Client = clients[e.Client-1]
			}
			if e.Node > 0 {
				e.Node = nodes[e.Node-1]
			}
			if e.Sent > 0 || e.Kind == history.KeySet {
				e.Sent += later
			}
			if e.Resource != "" {
				e.Resource = map[string]string{"r": "the one", "s": "another"}[e.Resource]
			}
			if e.Token != "" {
				e.Token = string(rune('z' - []rune(e.Token)[0] + 'A'))
			}
		}
		sameFindings(t, judge(header, events), judge(header, again), "by other names and at another hour")
	})
}

func sameFindings(t *rapid.T, a, b checker.Report, how string) {
	t.Helper()
	for i, f := range a.Findings {
		if g := b.Findings[i]; f.Verdict != g.Verdict || f.Count != g.Count {
			t.Fatalf("%v: %v, %d violations (%s), %s %v, %d (%s)", f.Property, f.Verdict, f.Count, f.Story(), how, g.Verdict, g.Count, g.Story())
		}
	}
}

// TestPropertiesAreJudgedAlone: a property is found to be what it is, whichever others are
// judged beside it.
func TestPropertiesAreJudgedAlone(t *testing.T) {
	repeat(t, 2_000, func(t *rapid.T) {
		header, events := drawTurmoil(t)
		all := judge(header, events)
		for _, p := range checker.Properties() {
			sameFindings(t, checker.Report{Findings: []checker.Finding{all.Finding(p)}}, judge(header, events, p), "and alone")
		}
	})
}
