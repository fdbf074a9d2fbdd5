package explore

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

var judgedHere = []checker.Property{checker.Lease, checker.Contract}

// written returns the state as it is read from a file.
func written(t *testing.T, s State) *State {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read State
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return &read
}

// Law: an exploration that is stopped again and again, and continued from what was written, shows the
// same as one that is not.
func TestResumedExploration(t *testing.T) {
	whole := explored(t, t.Context(), Limits{})
	var state *State
	stops := 0
	for {
		ctx, stop := context.WithCancel(t.Context())
		o, err := Explore(ctx, crashing(t), narrow, Limits{Resume: state}, judgedHere, func(now Outcome, _ func() State) {
			if state == nil || now.Events > state.Tally.Events+2_000 {
				stop()
			}
		})
		stop()
		if err != nil {
			t.Fatal(err)
		}
		state = written(t, o.State)
		if o.Complete {
			if o.Verdict() != whole.Verdict() || o.Find().Events != whole.Find().Events || o.Executions < whole.Executions {
				t.Errorf("after %d stops %+v, without %+v", stops, o.Tally, whole.Tally)
			}
			break
		}
		stops++
	}
	if stops < 3 {
		t.Errorf("stopped %d times", stops)
	}
	again := explored(t, t.Context(), Limits{Resume: state})
	if !again.Complete || again.Find().Events != whole.Find().Events || again.Executions == 0 {
		t.Errorf("a complete state is continued as %+v", again)
	}
}

// Law: the shards of an exploration, joined, show the same as the whole.
func TestShards(t *testing.T) {
	whole := explored(t, t.Context(), Limits{})
	var all []State
	for shard := range 3 {
		o := explored(t, t.Context(), Limits{Shard: shard, Shards: 3})
		if o.Executions >= whole.Executions {
			t.Errorf("shard %d has %d runs, the whole has %d", shard, o.Executions, whole.Executions)
		}
		all = append(all, *written(t, o.State))
	}
	joined, bounds, err := Join(t.Context(), crashing(t), judgedHere, all, "")
	if err != nil || !joined.Complete || joined.Verdict() != whole.Verdict() || joined.Find().Events != whole.Find().Events || !reflect.DeepEqual(bounds, narrow) {
		t.Errorf("joined %+v, %v; whole %+v", joined, err, whole)
	}
	for says, states := range map[string][]State{
		"shard 3/3 is missing":  all[:2],
		"shard 1/3 comes twice": {all[0], all[0], all[1]},
	} {
		if _, _, err := Join(t.Context(), crashing(t), judgedHere, states, ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %s", err, says)
		}
	}
	if _, err := Explore(t.Context(), crashing(t), Bounds{Latencies: 1}, Limits{Resume: &all[0]}, judgedHere, nil); err == nil || !strings.Contains(err.Error(), "of another scenario, or other bounds") {
		t.Errorf("other bounds: %v", err)
	}
	if _, _, err := Join(t.Context(), crashing(t), judgedHere, all, "other"); err == nil || !strings.Contains(err.Error(), "another build") {
		t.Errorf("another build: %v", err)
	}
}

// Law: what is written while an exploration is under way is enough to continue it, as after a kill.
func TestStateOfAnExplorationUnderWay(t *testing.T) {
	whole := explored(t, t.Context(), Limits{})
	var states []State
	begin := func(from *State, workers int) Outcome {
		o, err := Explore(t.Context(), crashing(t), narrow, Limits{Resume: from, Workers: workers}, judgedHere, func(_ Outcome, state func() State) {
			states = append(states, state())
		})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	begin(nil, 4)
	begun, all := 0, states
	for i, s := range all {
		if slices.ContainsFunc(s.Pass, func(one SavedSearch) bool { return one.Tally.Executions > 0 && !one.Finished }) {
			begun++
		}
		if i%(len(all)/5) != 0 {
			continue
		}
		o := begin(written(t, s), 1)
		if !o.Complete || o.Verdict() != whole.Verdict() || o.Find().Events != whole.Find().Events || o.Executions < whole.Executions {
			t.Errorf("continued from %+v: %+v; whole: %+v", s, o.Tally, whole.Tally)
		}
	}
	if len(all) < 10 || begun == 0 {
		t.Errorf("%d states, of which %d have a search that has begun", len(all), begun)
	}
}

// A state that no exploration has is refused where it is read, and one whose runs have other choices when
// the first of these is made.
func TestWrongState(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	o, err := Explore(ctx, crashing(t), narrow, Limits{}, judgedHere, func(now Outcome, _ func() State) {
		if now.Events > 2_000 {
			stop()
		}
	})
	if err != nil || len(o.State.Pass) == 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	for says, change := range map[string]func(*State){
		"shard 1 of 0":                   func(s *State) { s.Shards = 0 },
		"shard 0 of 1":                   func(s *State) { s.Shard = -1 },
		"-2 deviations are done":         func(s *State) { s.Done = -2 },
		"it is complete, and has a pass": func(s *State) { s.Complete = true },
		"no property \"luck\"":           func(s *State) { s.Properties["luck"] = SavedResult{Within: Holds} },
		"no verdict \"green\"":           func(s *State) { s.Properties[checker.Lease] = SavedResult{Within: "green"} },
		"Share:2":                        func(s *State) { s.Tally.Share = 2 },
		"way 0 at point 3":               func(s *State) { s.Pass[0].Turns = []runner.Turn{{Point: 3}} },
		"way 1 at point 3":               func(s *State) { s.Pass[0].Turns = []runner.Turn{{Point: 3, Way: 1}, {Point: 3, Way: 1}} },
		"other choices in this program":  func(s *State) { s.Pass[0] = SavedSearch{Turns: []runner.Turn{{Point: 1, Way: 1 << 31}}} },
		"it has 1 plans, not":            func(s *State) { s.Pass = s.Pass[:1] },
		"another build of Lockstorm":     func(s *State) { s.Build = "other" },
		"-1 runs": func(s *State) {
			s.Pass[0].Verdicts = map[checker.Property]map[checker.Verdict]int{checker.Lease: {checker.Holds: -1}}
		},
		"a run of it has other choices":      func(s *State) { s.Pass[0] = SavedSearch{Turns: []runner.Turn{{Point: 1 << 40, Way: 1}}} },
		"of another scenario, or other":      func(s *State) { s.World = "" },
		"0 latencies: want 1 to 64":          func(s *State) { s.Bounds.Latencies = 0 },
		"held and 0 unknown: want 0 or more": func(s *State) { s.Properties[checker.Lease] = SavedResult{Within: Holds, Held: -1} },
	} {
		wrong := written(t, o.State)
		change(wrong)
		var state *StateError
		_, err := Explore(t.Context(), crashing(t), narrow, Limits{Resume: wrong}, judgedHere, nil)
		if !errors.As(err, &state) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
