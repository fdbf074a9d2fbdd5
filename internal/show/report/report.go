package report

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Options configure a report.
type Options struct {
	// Backend returns a backend by name.
	Backend func(name string) (runner.Backend, error)

	// Simulator is the backend on which a seed repeats a run exactly.
	Simulator runner.Backend

	// MaxDetails is how many runs of each kind are shown with their histories: the first ones
	// with violations. Tables list all.
	MaxDetails int
}

// DefaultMaxDetails is the default of MaxDetails.
const DefaultMaxDetails = 12

// stoppedNote says that what is on the page is not all that was asked for.
const stoppedNote = "Stopped before the end. These are the results so far."

// Report is a page under construction.
type Report struct {
	document.Document
	options Options

	shown int // runs on the page so far
}

// New returns a page without sections.
func New(title string, o Options) *Report {
	return &Report{Document: document.Document{Title: title}, options: o}
}

// addFoot adds to the foot how something was made.
func (r *Report) addFoot(what string, versions map[string]string, command string) {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, k+" "+versions[k])
	}
	text := what
	if len(parts) > 0 {
		text += ": made with " + strings.Join(parts, ", ")
	}
	if command != "" {
		text += "; " + command + " repeats it"
	}
	r.Foot = append(r.Foot, text+".")
}

// TalliesOf returns the tallies of a reference, for the scenarios as they are now.
func TalliesOf(f results.Reference) (Tallies, error) {
	found := Tallies{}
	for _, r := range f.Rows {
		s, err := scenarios.Find(r.Scenario)
		if err != nil {
			return nil, fmt.Errorf("the stored results are not of this program: %w", err)
		}
		found[r.Scenario] = r.Tally(s)
	}
	return found, nil
}

// TitleOf makes the title of a page from the last parts of paths.
func TitleOf(paths []string) string {
	short := make([]string, len(paths))
	for i, p := range paths {
		if whole, err := filepath.Abs(p); err == nil {
			p = whole // "." has a base name too
		}
		short[i] = strings.TrimSuffix(filepath.Base(p), cases.Extension)
	}
	return strings.Join(short, ", ")
}
