//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// tally is how often a package was run under a stress, and which tests failed how often.
type tally struct {
	runs, failures int
	tests          map[string]int
}

func count(results []result) tally {
	t := tally{runs: len(results), tests: map[string]int{}}
	for _, r := range results {
		if r.Ended != "" {
			t.failures++
		}
		for _, test := range r.Failed {
			t.tests[test]++
		}
	}
	return t
}

// cell says it in the table of packages: how many runs, if all are green.
func (t tally) cell() string {
	switch {
	case t.runs == 0:
		return "–"
	case t.failures == 0:
		return fmt.Sprint(t.runs)
	}
	return "**" + share(t.failures, t.runs) + "**"
}

// share is how often something failed, with the upper end of Wilson's 95 % interval.
func share(failures, runs int) string {
	return fmt.Sprintf("%d of %d (≤ %.0f %%)", failures, runs, 100*bound(failures, runs))
}

func bound(failures, runs int) float64 {
	_, hi := runner.Rate{K: failures, N: runs}.Wilson()
	return hi
}

// pages writes the tables of the results of some jobs: a line for each package, and one for
// each test that has failed under a stress.
func pages(w io.Writer, jobs []*job, kept *store) {
	head := []string{"package"}
	for _, s := range stresses {
		head = append(head, s.name)
	}
	packages, failures := textfmt.Table{Head: head}, textfmt.Table{Head: []string{"test", "stress", "failed"}}
	tallies := map[string]map[string]tally{}
	for _, j := range jobs {
		if tallies[j.tested.name] == nil {
			tallies[j.tested.name] = map[string]tally{}
		}
		tallies[j.tested.name][j.stress.name] = count(kept.of(*j))
	}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		cells := []string{"`" + name + "`"}
		for _, s := range stresses {
			t := tallies[name][s.name]
			cells = append(cells, t.cell())
			for _, test := range t.worst() {
				failures.Add("`"+name+"` "+test, s.name, share(t.tests[test], t.runs))
			}
		}
		packages.Add(cells...)
	}
	packages.Markdown(w)
	if len(failures.Lines) == 0 {
		_, _ = fmt.Fprintln(w, "\nNo test has failed.")
		return
	}
	_, _ = fmt.Fprintln(w)
	failures.Markdown(w)
}

// worst returns the tests that failed, the most frequent first.
func (t tally) worst() []string {
	return slices.SortedFunc(maps.Keys(t.tests), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.tests[b], t.tests[a]), strings.Compare(a, b))
	})
}

// between replaces what stands between the two marks of a page.
func between(page, text string) (string, error) {
	const begin, end = "<!-- flake -->\n", "<!-- /flake -->\n"
	before, rest, began := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !began || !ended {
		return "", fmt.Errorf("the page lacks the lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}
