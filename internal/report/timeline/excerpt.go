package timeline

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// What is shown at most: more is slow to look at, and nobody finds his way in it.
const (
	MostEvents   = 100_000 // of a history
	MostAccesses = 10_000  // to the guarded resource
	MostClients  = 100     // with a lane of their own
	mostSamples  = 4_000   // of a clock
)

// excerpt is the part of a history that is shown.
type excerpt struct {
	first, last int // of its events, from 1
	all         int // that the history has
	end         history.Time

	from, to history.Time // the time of the first and the last
	broken   error        // why the history cannot be read to its end
}

// survey reads the history to see how much of it can be shown: all, or the events around
// the first violation or, if there is none, from the begin on.
func (run Run) survey() (excerpt, error) {
	var x excerpt
	look, before := run.firstViolation(), 0
	opened := false
	err := run.each(func(history.Header) { opened = true }, func(e *history.Event) bool {
		x.all++
		x.end = e.Time
		if look != nil && e.Time < look.From {
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
func (x *excerpt) omitted() []string {
	var all []string
	if shown := x.last - x.first + 1; shown < x.all {
		all = append(all, fmt.Sprintf("Of %s events %s are shown, from %v to %v.", textfmt.Grouped(x.all), textfmt.Grouped(shown), x.from, x.to))
	}
	if x.broken != nil {
		all = append(all, fmt.Sprintf("The history cannot be read further: %v.", x.broken))
	}
	return all
}
