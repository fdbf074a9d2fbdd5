package explore

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
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
		o, err := Explore(ctx, crashing(t), narrow, Limits{Resume: state}, judgedHere, func(now Outcome) {
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
	joined, bounds, err := Join(t.Context(), crashing(t), judgedHere, all)
	if err != nil || !joined.Complete || joined.Verdict() != whole.Verdict() || joined.Find().Events != whole.Find().Events || !reflect.DeepEqual(bounds, narrow) {
		t.Errorf("joined %+v, %v; whole %+v", joined, err, whole)
	}
	for says, states := range map[string][]State{
		"shard 3/3 is missing":  all[:2],
		"shard 1/3 comes twice": {all[0], all[0], all[1]},
	} {
		if _, _, err := Join(t.Context(), crashing(t), judgedHere, states); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %s", err, says)
		}
	}
	if _, err := Explore(t.Context(), crashing(t), Bounds{Latencies: 1}, Limits{Resume: &all[0]}, judgedHere, nil); err == nil || !strings.Contains(err.Error(), "of another scenario, or other bounds") {
		t.Errorf("other bounds: %v", err)
	}
}
