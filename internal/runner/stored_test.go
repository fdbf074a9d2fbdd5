package runner_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: a stored history, written to a file and read from it again, is judged, told and
// measured as it was while it happened: of every row, and of every lock in storms of all
// kinds of faults.
func TestStoredHistoryIsJudgedTheSame(t *testing.T) {
	for _, s := range scenarios.All() {
		for seed := range uint64(2) {
			storeAndJudge(t, s, seed)
		}
	}
	for _, c := range scenarios.Contenders() {
		s := runner.InStorm(scenarios.Trials()[0].Enter(c), nemesis.Generator{Most: 8})
		for seed := range uint64(4) {
			storeAndJudge(t, s, seed)
		}
	}
}

func storeAndJudge(t *testing.T, s scenarios.Scenario, seed uint64) {
	t.Helper()
	var file bytes.Buffer
	writer := history.NewWriter(&file, prepared(t, simulator, s).Header(seed))
	r, err := runner.Run(context.Background(), simulator, s, seed, writer)
	if err = errors.Join(err, writer.Flush()); err != nil {
		t.Fatal(err)
	}
	_, again, err := results.Judge(&file)
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(again, r.Report) {
		return
	}
	t.Errorf("%s, seed %d, is found to be something else when its stored history is judged again; lockstorm run %[1]s --seed %[2]d", s.Name, seed)
	for i, f := range r.Report.Findings {
		if g := again.Findings[i]; !reflect.DeepEqual(f, g) {
			t.Logf("%s, while it ran: %v (%d) %s\nand from the file: %v (%d) %s", f.Property.Title(), f.Verdict, f.Count, f.Story(), g.Verdict, g.Count, g.Story())
		}
	}
}
