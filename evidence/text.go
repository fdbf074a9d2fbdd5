package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// text is the Markdown of a page.
type text struct{ strings.Builder }

// say adds a paragraph, or a line of a list.
func (t *text) say(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// table adds a table between two blank lines.
func (t *text) table(table *textfmt.Table) {
	t.say("")
	table.Markdown(t)
	t.say("")
}

// madeWith names versions, in the order of their names.
func madeWith(versions map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, k+" "+versions[k])
	}
	return strings.Join(parts, ", ")
}

// load loads the stored results of a suite.
func (c *checkout) load(dir, file string) (results.Reference, report.Tallies, error) {
	reference, err := results.LoadReference(c.path("results", dir), file)
	if err != nil {
		return reference, nil, err
	}
	found, err := report.TalliesOf(reference)
	return reference, found, err
}

// cited is a source with its address.
func cited(c scenarios.Claim) string { return fmt.Sprintf("[%s](%s)", c.Article(), c.Link()) }
