package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Options are what a report knows beside what is stored.
type Options struct {
	// Backend returns the backend of a name.
	Backend func(name string) (runner.Backend, error)

	// Simulator is the backend on which a run repeats exactly from its seed.
	Simulator runner.Backend

	// MaxDetails is how many runs are shown with their history, each kind of thing by itself:
	// those that violate something, the first of them. The others are in tables.
	MaxDetails int
}

// DefaultMaxDetails is Most where nobody says how many.
const DefaultMaxDetails = 12

// stoppedNote says that what is on the page is not all that was asked for.
const stoppedNote = "Stopped before the end: this is what is known."

// Report is a page in the making.
type Report struct {
	document.Document
	options Options

	timelines int // there are, up to now
}

// New returns a page without a section.
func New(title string, o Options) *Report {
	return &Report{Document: document.Document{Title: title}, options: o}
}

// addFoot says in the foot how something was addFoot.
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

// TalliesOf returns what a reference says of scenarios as they are now.
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
