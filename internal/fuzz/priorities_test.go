package fuzz_test

import (
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/nemesis"
)

// With priorities each candidate is run with drawn latencies, and again with priorities between as many
// messages.
func TestPrioritiesRepeatEachCandidate(t *testing.T) {
	const runs = 400
	var all []fuzz.Run
	h := small(t, func(r fuzz.Run) bool {
		all = append(all, r)
		return r.Number < runs
	})
	h.Guidance, h.Depth = fuzz.Priorities, 3
	if err := h.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var results fuzz.Results
	repeated := 0
	for i, r := range all {
		results.Add(r)
		by := r.Scenario.Priorities
		if by == nil {
			continue
		}
		repeated++
		before := all[i-fuzz.Lookahead]
		if *by != (nemesis.Priorities{Depth: 3, Messages: before.Result.Messages}) {
			t.Errorf("run %d has %+v: want depth 3 and %d messages", r.Number, *by, before.Result.Messages)
		}
		if before.Scenario.Priorities != nil || before.Seed != r.Seed || !reflect.DeepEqual(before.Scenario.Plan, r.Scenario.Plan) {
			t.Errorf("run %d does not repeat run %d", r.Number, before.Number)
		}
	}
	p := results.Prioritized
	switch {
	case repeated < runs/4:
		t.Errorf("%d of %d runs have priorities: want nearly half", repeated, runs)
	case p == nil || p.Runs != repeated || p.Depth != 3 || p.Directions == 0 || p.Messages == 0:
		t.Errorf("the results have %+v: want %d runs", p, repeated)
	case p.Guarantee < (nemesis.Priorities{Depth: 3, Messages: p.Messages}).Guarantee(p.Directions)*0.999:
		t.Errorf("the guarantee is %g, below that of the largest run", p.Guarantee)
	}
}
