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
