package runner_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: a run is its seed's up to a branch, and another one behind it. A branch behind its end changes
// nothing, and the replay string repeats the branch.
func TestBranches(t *testing.T) {
	others := 0
	for _, s := range scenarios.All() {
		e, err := runner.Prepare(simulator, s)
		if err != nil {
			t.Fatal(err)
		}
		run := func(branches ...runner.Branch) (runner.Result, []history.Event) {
			t.Helper()
			var log history.Log
			r, err := e.WithEventLimit(3_000).WithCourse(runner.Course{Branches: branches}).Run(context.Background(), 1, &log)
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			return r, log
		}
		straight, all := run()
		if unchanged, _ := run(runner.Branch{Event: straight.Events + 1, Seed: 7}); unchanged.TraceHash != straight.TraceHash {
			t.Errorf("%s: a branch behind the end changes the run", s.Name)
		}
		branch := runner.Branch{Event: straight.Events / 2, Seed: 7}
		other, events := run(branch)
		if other.TraceHash != straight.TraceHash {
			others++
		}
		equal := 0
		for equal < min(len(all), len(events)) && reflect.DeepEqual(all[equal], events[equal]) {
			equal++
		}
		if equal == 0 {
			t.Errorf("%s: the run has nothing in common with that of its seed", s.Name)
		}
		text, err := runner.ParseReplay(other.Replay().String())
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := run(text.Branches...); !text.Same(again) {
			t.Errorf("%s: %v repeats another run", s.Name, text)
		}
	}
	if others < len(scenarios.All())/2 {
		t.Errorf("only %d branches go another way", others)
	}
}
