package external

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Outcome sums up the runs of a storm.
type Outcome struct {
	runner.Tally
	Limits map[checker.Property]Limit // the first one for each property

	open    map[checker.Property]Undecided // the first run for each property
	decided map[checker.Property]bool      // in some run
}

// Undecided is a promise that a run leaves undecided.
type Undecided struct {
	checker.Finding
	Seed uint64 // of the run
}

// Add adds a run and its judgment.
func (o *Outcome) Add(r runner.Result, j Judgment) {
	if o.Runs == 0 {
		*o = Outcome{
			Tally: runner.NewTally(r.Scenario), Limits: map[checker.Property]Limit{},
			open: map[checker.Property]Undecided{}, decided: map[checker.Property]bool{},
		}
	}
	o.Tally.Add(r)
	for _, l := range j.Limits {
		if _, seen := o.Limits[l.Property]; !seen {
			o.Limits[l.Property] = l
		}
	}
	for _, f := range j.Open {
		if _, seen := o.open[f.Property]; !seen {
			o.open[f.Property] = Undecided{f, r.Seed}
		}
	}
	for _, f := range r.Report.Findings {
		if f.Verdict == checker.Holds && !r.Slipped() {
			o.decided[f.Property] = true
		}
	}
}

// Undecided returns the first promise that the runs leave undecided. With generated plans one run
// that decides it is enough, because some plans cannot, such as one that cuts a client off for good.
func (o *Outcome) Undecided() (Undecided, bool) {
	for _, p := range checker.Properties() {
		if u, open := o.open[p]; open && (o.Scenario.Generate == nil || !o.decided[p]) {
			return u, true
		}
	}
	return Undecided{}, false
}

// Verdicts lists what was observed of properties that some run could violate, such as V1 holds.
func (o *Outcome) Verdicts(of []checker.Property) (list []string) {
	for _, p := range of {
		if v := o.Observed(p); v != checker.NotApplicable {
			list = append(list, fmt.Sprintf("%s %v", p.Code(), v))
		}
	}
	return list
}
