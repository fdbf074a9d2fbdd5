package explore

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// record is what a search has shown: the runs with one plan and up to a number of deviations.
type record struct {
	Tally    Tally                                        `json:"tally"`
	Verdicts map[checker.Property]map[checker.Verdict]int `json:"verdicts"` // of the executions
	Finds    map[checker.Property]savedFind               `json:"finds,omitempty"`
	Finished bool                                         `json:"finished"` // every run was made
	Bound    bool                                         `json:"bound"`    // more deviations give more runs

	finds map[checker.Property]*Find
}

// savedFind is the shortest run of a search that violates a property.
type savedFind struct {
	Replay string `json:"replay"` // in the world that is explored
	Events int    `json:"events"`
	Faults int    `json:"faults"`
}

// record returns what the search has shown so far.
func (s *search) record() *record {
	r := &record{Tally: s.tally, Verdicts: s.verdicts, Finds: map[checker.Property]savedFind{}, Finished: s.finished, Bound: s.bound, finds: s.finds}
	for p, f := range s.finds {
		r.Finds[p] = savedFind{f.Replay(scenarios.Part{}).String(), f.Events, f.Faults}
	}
	return r
}

// logged returns the record of a unit from the log; nil: it has none.
func (l Limits) logged(unit int) (*record, error) {
	r := &record{finds: map[checker.Property]*Find{}}
	if known, err := l.Log.Get(unit, r); err != nil || !known {
		return nil, err
	}
	for p, f := range r.Finds {
		r.finds[p] = &Find{Events: f.Events, Faults: f.Faults, stored: f.Replay}
	}
	return r, nil
}

// restore repeats the run of a find that comes from a log, in the world that is explored.
func (f *Find) restore(ctx context.Context, s scenarios.Scenario) error {
	if f.stored == "" {
		return nil
	}
	again, err := runner.ParseReplay(f.stored)
	if err != nil {
		return err
	}
	e, _, err := Bounds{}.prepare(s, again.Part.Faults)
	if err != nil {
		return err
	}
	f.picks = again.Part.Faults
	f.Result, err = e.WithCourse(again.Course).Run(ctx, again.Seed, nil)
	if err == nil && !again.Same(f.Result) {
		err = fmt.Errorf("the run of the replay string %q is not that of before: the program has changed", f.stored)
	}
	f.stored = ""
	return err
}
