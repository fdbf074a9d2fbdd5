package checker_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
)

var histories = flag.Int("histories", 100_000, "random histories of TestSweepAgreesWithPorcupine")

// repeat checks a property on so many random cases.
func repeat(t *testing.T, cases int, property func(*rapid.T)) {
	t.Helper()
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	defer func() { _ = checks.Set(before) }()
	if err := checks.Set(fmt.Sprint(cases)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, property)
}

// TestSweepAgreesWithPorcupine: the stream judge and porcupine, on the model
// of a lease lock, agree on every history.
func TestSweepAgreesWithPorcupine(t *testing.T) {
	var seen census
	repeat(t, *histories, func(t *rapid.T) {
		scripts := drawScripts(t)
		seed := rapid.Uint64().Draw(t, "order of ties")
		header, events := write(scripts, seed)
		report := judge(header, events)
		var lease, section []referenceWindow
		for i := range scripts {
			lease = append(lease, scripts[i].leaseWindows()...)
			section = append(section, scripts[i].sectionWindows()...)
		}
		legal := reference(lease)
		agree(t, report.Finding(checker.Lease), legal, lease)
		agree(t, report.Finding(checker.Section), reference(section), section)
		seen.count(scripts, lease, legal)
	})
	if !t.Failed() {
		seen.check(t)
	}
}

func agree(t *rapid.T, f checker.Finding, legal bool, windows []referenceWindow) {
	if (f.Verdict != checker.Violated) != legal {
		t.Fatalf("%v: %v (%s), but porcupine finds legal = %v in %+v", f.Property, f.Verdict, f.Story, legal, windows)
	}
	if pairs := overlappingPairs(windows); f.Count < pairs {
		t.Fatalf("%v: %d violations, but %d pairs overlap in %+v", f.Property, f.Count, pairs, windows)
	}
}

// census counts what the random histories contain.
type census struct {
	all, illegal, touching, empty, extended, unknown int
}

func (c *census) count(scripts []script, windows []referenceWindow, legal bool) {
	add := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	c.all++
	add(&c.illegal, !legal)
	add(&c.touching, slices.ContainsFunc(windows, func(v referenceWindow) bool {
		return slices.ContainsFunc(windows, func(w referenceWindow) bool { return v.client != w.client && v.end == w.from && v.from < v.end })
	}))
	add(&c.empty, slices.ContainsFunc(windows, func(w referenceWindow) bool { return w.end <= w.from }))
	add(&c.extended, slices.ContainsFunc(scripts, func(s script) bool { return len(s.extends) > 0 && s.extends[0].granted }))
	add(&c.unknown, slices.ContainsFunc(scripts, script.actsUnreturned))
}

func (c *census) check(t *testing.T) {
	t.Logf("%+v", *c)
	for _, want := range []struct {
		what    string
		seen    int
		percent int
	}{
		{"illegal", c.illegal, 10},
		{"legal", c.all - c.illegal, 10},
		{"with windows that touch", c.touching, 5},
		{"with empty windows", c.empty, 5},
		{"with extensions", c.extended, 5},
		{"with unknown tries that act", c.unknown, 5},
	} {
		if want.seen*100 < want.percent*c.all {
			t.Errorf("%d of %d histories are %s, want %d %%", want.seen, c.all, want.what, want.percent)
		}
	}
}
