package explore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Verdict is the outcome of an exploration, for a property or for all.
type Verdict string

// The verdicts.
const (
	Holds      Verdict = "holds"      // every run within the bounds keeps the property, or has nothing that it is about
	Violated   Verdict = "violated"   // some run violates it
	Unfinished Verdict = "unfinished" // no run that was made violates it, and others were not made or could not be judged
	Vacuous    Verdict = "n/a"        // no run has anything that the property is about
)

// Outcome is what an exploration has shown.
type Outcome struct {
	Tally               // of all plans, in the last pass
	Plans      int      // that there are
	Explored   int      // of these, to the end, in the last pass
	Deviations int      // every run with so many deviations was made; -1: not even every one without
	Complete   bool     // every run within the bounds was made; then the finds are the shortest of these
	Judged     []Judged // the wanted properties, in their order
}

// Tally counts the runs of a search.
type Tally struct {
	Executions     int     `json:"executions"`     // runs up to their end
	Cut            int     `json:"cut"`            // runs that were stopped, because the rest shows nothing new
	Overlapping    int     `json:"overlapping"`    // runs that were left out, because a fault began while another held its target
	States         int     `json:"states"`         // that are remembered
	Events         int     `json:"events"`         // of all these runs
	UntriedReturns int     `json:"return_untried"` // executions with an untried return: see [runner.Result.ReturnUntried]
	Share          float64 `json:"share"`          // of the runs that were made, from 0 to 1; an estimate, unless it is 1
}

// made returns the number of runs.
func (t Tally) made() int { return t.Executions + t.Cut + t.Overlapping }

// Judged is what an exploration has shown of a property.
type Judged struct {
	Property checker.Property
	Verdict  Verdict
	Within   Verdict // of the runs with up to [Outcome.Deviations]; if there are none yet: unfinished
	Held     int     // executions that keep it, in the last pass
	Unknown  int     // executions with an unknown verdict
	Find     *Find   // the shortest run that violates it, of those that were made
}

// Against compares the verdict with what a scenario expects.
func (j Judged) Against(e scenarios.Expectations) scenarios.Match {
	want, stated := e.Want(j.Property)
	switch violated := j.Verdict == Violated; {
	case want == checker.Unknown:
		return scenarios.Met
	case violated && want != checker.Violated:
		return scenarios.Contradicted
	case j.Verdict == Unfinished:
		return scenarios.Open
	case stated && want == checker.Violated && !violated:
		return scenarios.Contradicted
	}
	return scenarios.Met
}

// Verdict returns the verdict on all wanted properties together.
func (o Outcome) Verdict() Verdict {
	for _, v := range []Verdict{Violated, Unfinished, Holds} {
		if slices.ContainsFunc(o.Judged, func(j Judged) bool { return j.Verdict == v }) {
			return v
		}
	}
	return Vacuous
}

// Left estimates how many runs of the last pass were not made.
func (o Outcome) Left() int {
	if o.Complete || o.Share <= 0 {
		return 0
	}
	return int(min(float64(o.made())*(1/o.Share-1), math.MaxInt32))
}

// Within returns the verdict on all wanted properties together, of the runs with up to
// [Outcome.Deviations]. What violates one counts in any case.
func (o Outcome) Within() Verdict {
	within := Outcome{}
	for _, j := range o.Judged {
		if j.Verdict == Unfinished {
			j.Verdict = j.Within
		}
		within.Judged = append(within.Judged, j)
	}
	return within.Verdict()
}

// Violations lists the violated properties, each with the events and faults of its shortest run, as in
// "V1 (160, 2) V2 (160, 2)".
func (o Outcome) Violations() string {
	var all []string
	for _, j := range o.Judged {
		if j.Find != nil {
			all = append(all, fmt.Sprintf("%s (%d, %d)", j.Property.Code(), j.Find.Events, j.Find.Faults))
		}
	}
	return strings.Join(all, " ")
}

// Find returns the shortest find; nil: there is none.
func (o Outcome) Find() (shortest *Find) {
	for _, j := range o.Judged {
		shortest = shorter(shortest, j.Find)
	}
	return shortest
}

// verdict returns the verdict on a property, after all runs or some of them.
func (j Judged) verdict(complete bool) Verdict {
	switch {
	case j.Find != nil:
		return Violated
	case !complete || j.Unknown > 0:
		return Unfinished
	case j.Held == 0:
		return Vacuous
	}
	return Holds
}

// record is what a search has shown: the runs with one plan and up to a number of deviations.
type record struct {
	Tally    Tally                                        `json:"tally"`
	Verdicts map[checker.Property]map[checker.Verdict]int `json:"verdicts"`        // of the executions
	Finds    map[checker.Property]*Find                   `json:"finds,omitempty"` // the shortest run that violates each property
	Finished bool                                         `json:"finished"`        // every run was made
	Bound    bool                                         `json:"bound"`           // some run had no deviation left where there was another way: more give more runs
}

// Find is a run that violates a property.
type Find struct {
	Run    string `json:"replay"` // what repeats it in the world that is explored
	Events int    `json:"events"`
	Faults int    `json:"faults"`

	// Result is that of the repeated run, with its course.
	Result runner.Result `json:"-"`
}

// shorter returns the shorter of two runs, or that with fewer faults if they are of one length, or
// else the first. Either may be nil.
func shorter(a, b *Find) *Find {
	if a == nil || b != nil && (b.Events < a.Events || b.Events == a.Events && b.Faults < a.Faults) {
		return b
	}
	return a
}

// repeat makes the run again, in the world that is explored.
func (f *Find) repeat(ctx context.Context, s scenarios.Scenario) error {
	again, err := runner.ParseReplay(f.Run)
	if err != nil {
		return err
	}
	e, _, err := Bounds{}.prepare(s, again.Part.Faults)
	if err != nil {
		return err
	}
	f.Result, err = e.WithCourse(again.Course).Run(ctx, again.Seed, nil)
	if err == nil && !again.Same(f.Result) {
		err = fmt.Errorf("the run of the replay string %q is not that of before: the program has changed", f.Run)
	}
	return err
}

// Replay returns what repeats the run, of the part of a scenario that was explored.
func (f *Find) Replay(of scenarios.Part) runner.Replay {
	r, err := runner.ParseReplay(f.Run)
	if err != nil {
		panic(err) // repeat has read it
	}
	of.Faults = r.Part.Faults
	r.Part = of
	return r
}
