package timelinepage

import (
	"errors"
	"fmt"
	"io"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Run is the run that a timeline shows.
type Run struct {
	// Open opens the history, uncompressed, at its beginning. It is called twice.
	Open func() (io.ReadCloser, error)

	// Report is what the checker found in the history.
	Report checker.Report

	// Scenario is the scenario with the plan that was carried out. Without it no clocks are
	// shown.
	Scenario *scenarios.Scenario
}

// readHistory opens a history and passes its header to begin and its events to each, until each
// returns false.
func readHistory(open func() (io.ReadCloser, error), begin func(history.Header), each func(*history.Event) bool) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r, err := history.NewReader(file)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	begin(r.Header())
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !each(e) {
			return nil
		}
	}
}

// Limits of what is shown: more is slow to draw and hard to read.
const (
	MostEvents   = 100_000 // of a history
	MostAccesses = 10_000  // to the guarded resource
	MostClients  = 100     // lanes
)

// eventRange is the part of a history that is shown.
type eventRange struct {
	first, last int // events, counted from 1
	all         int // events of the history
	end         history.Time

	from, to history.Time // of the first and the last event
	broken   error        // why the rest of the history cannot be read
}

// chooseRange reads the history and chooses the part to show: all, or the events around the
// first violation or, without one, the first events.
func (run Run) chooseRange() (eventRange, error) {
	var x eventRange
	violation, before := run.firstViolation(), 0
	opened := false
	err := readHistory(run.Open, func(history.Header) { opened = true }, func(e *history.Event) bool {
		x.all++
		x.end = e.Time
		if violation != nil && e.Time < violation.From {
			before++
		}
		return true
	})
	if !opened {
		return x, err
	}
	x.broken = err
	x.first = max(1, min(before-MostEvents/2, x.all-MostEvents)+1)
	x.last = min(x.all, x.first+MostEvents-1)
	return x, nil
}

func (run Run) firstViolation() (first *checker.Place) {
	for _, f := range run.Report.Findings {
		if w := f.Where; f.Verdict == checker.Violated && w != nil && (first == nil || w.From < first.From) {
			first = w
		}
	}
	return first
}

// omitted says what of the history is not shown.
func (x *eventRange) omitted() []string {
	var all []string
	if shown := x.last - x.first + 1; shown < x.all {
		all = append(all, fmt.Sprintf("Of %s events %s are shown, from %v to %v.", textfmt.Grouped(x.all), textfmt.Grouped(shown), x.from, x.to))
	}
	if x.broken != nil {
		all = append(all, fmt.Sprintf("The history cannot be read further: %v.", x.broken))
	}
	return all
}
