package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// slipping is a batch of a scenario on a machine that is late by so much in each run of a
// seed, one after another: the last is that of all further runs.
func slipping(t *testing.T, name string, late map[uint64][]time.Duration) (b runner.Batch, order *[]string) {
	var mu sync.Mutex
	order = new([]string)
	e := prepared(t, simulator, find(t, name))
	b = runner.Batch{Experiment: e, First: 1, Runs: 4, One: func(ctx context.Context, seed uint64) (runner.Result, error) {
		r, err := e.Run(ctx, seed, nil)
		mu.Lock()
		defer mu.Unlock()
		*order = append(*order, fmt.Sprint(seed))
		if list := late[seed]; len(list) > 0 {
			r.SchedulingLag = list[0]
			if len(list) > 1 {
				late[seed] = list[1:]
			}
		}
		return r, err
	}}
	return b, order
}

// A run in which events are later than the scenario allows decides nothing, whatever its findings.
func TestSlippedRunSaysNothing(t *testing.T) {
	for _, name := range []string{"crash-restart", "delayed-restart"} {
		s := find(t, name)
		r, err := runner.Run(t.Context(), simulator, s, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SchedulingLag = s.AllowedSlip()
		if r.Slipped() || !r.AsExpected() {
			t.Errorf("%s: as late as is allowed: %+v", name, r)
		}
		r.SchedulingLag++
		tally := runner.NewTally(s)
		tally.Add(r)
		if !r.Slipped() || r.AsExpected() || tally.Conclusion() != runner.Undecided || tally.Observed(checker.Lease) != checker.Unknown {
			t.Errorf("%s: later than is allowed: %v", name, tally.Conclusion())
		}
		// Now the observed verdict contradicts the expectation.
		r.Scenario.Expect = scenarios.Expectations{checker.DeadlockFreedom: checker.NotApplicable}
		if r.Contradicts() {
			t.Errorf("%s: a run that slipped contradicts", name)
		}
		if r.SchedulingLag = 0; !r.Contradicts() {
			t.Errorf("%s: this test shows nothing: the same run in time does not contradict", name)
		}
	}
}

// A run that slipped is repeated at the end, alone, and takes its place in the order of seeds. A
// run that slips every time stays undecided.
func TestSlippedRunIsRepeated(t *testing.T) {
	const late = time.Hour
	b, order := slipping(t, "crash-restart", map[uint64][]time.Duration{2: {late, late, 0}, 3: {late, 0}})
	other, _ := slipping(t, "delayed-restart", nil)
	var told []uint64
	b.Each = func(r runner.Result) { told = append(told, r.Seed) }
	tallies, err := runner.RunBatches(t.Context(), 3, []runner.Batch{b, other})
	if err != nil {
		t.Fatal(err)
	}
	if tallies[0].Conclusion() != runner.AsExpected || tallies[0].Slipped > 0 || !slices.Equal(told, []uint64{1, 2, 3, 4}) {
		t.Errorf("%v, %d slipped, told of %v", tallies[0].Conclusion(), tallies[0].Slipped, told)
	}
	if got := strings.Join((*order)[4:], " "); got != "2 2 3" {
		t.Errorf("repeated: %s", got)
	}
	if tallies[0].Discarded != 3 || tallies[1].Discarded != 0 {
		t.Errorf("discarded: %d, and %d beside it", tallies[0].Discarded, tallies[1].Discarded)
	}
	if tallies[1].Conclusion() != runner.AsExpected || tallies[1].Runs != 4 {
		t.Errorf("the batch beside it: %v", tallies[1].Conclusion())
	}

	b, order = slipping(t, "crash-restart", map[uint64][]time.Duration{4: {late}})
	tally, err := b.Run(t.Context())
	if err != nil || tally.Conclusion() != runner.Undecided || tally.Slipped != 1 || tally.Slipping.Seed != 4 || tally.Slipping.SchedulingLag != late {
		t.Errorf("always late: %v, %d slipped, %v", tally.Conclusion(), tally.Slipped, err)
	}
	if got := tally.Seen[checker.Lease][checker.Unknown]; got != 1 || tally.Runs != 4 {
		t.Errorf("%d of %d runs are unknown", got, tally.Runs)
	}
	if got := len(*order); got != 4+3 {
		t.Errorf("run %d times", got)
	}
}

// A run of which a watch has seen too little is repeated. If it stays so, the run counts: its other verdicts
// are not in doubt.
func TestUnseenRunIsRepeated(t *testing.T) {
	e := prepared(t, simulator, find(t, "crash-restart"))
	unseen := map[uint64]int{2: 1, 3: 99}
	runs := 0
	b := runner.Batch{Experiment: e, First: 1, Runs: 4, One: func(ctx context.Context, seed uint64) (runner.Result, error) {
		r, err := e.Run(ctx, seed, nil)
		runs++
		if unseen[seed]--; unseen[seed] >= 0 {
			i := slices.IndexFunc(r.Report.Findings, func(f checker.Finding) bool { return f.Property == checker.Cleanup })
			r.Report.Findings[i] = checker.Finding{Property: checker.Cleanup, Verdict: checker.Unknown, Events: []checker.Event{{Role: checker.RoleUnseen}}}
		}
		return r, err
	}}
	tallies, err := runner.RunBatches(t.Context(), 1, []runner.Batch{b})
	if err != nil {
		t.Fatal(err)
	}
	tally := tallies[0]
	if runs != 4+1+3 || tally.Slipped > 0 || tally.Seen[checker.Cleanup][checker.Unknown] != 1 || tally.Seen[checker.Lease][checker.Violated] != 4 {
		t.Errorf("%d runs, %d slipped, %v", runs, tally.Slipped, tally.Seen)
	}
}

// failing is a batch in which worlds have so many errors for each seed.
func failing(t *testing.T, failures map[uint64]int) (b runner.Batch, told *[]string) {
	var mu sync.Mutex
	told = new([]string)
	e := prepared(t, simulator, find(t, "crash-restart"))
	b = runner.Batch{Experiment: e, First: 1, Runs: 8, One: func(ctx context.Context, seed uint64) (runner.Result, error) {
		mu.Lock()
		fails := failures[seed] > 0
		failures[seed]--
		mu.Unlock()
		if fails {
			return runner.Result{}, runner.WorldError(fmt.Errorf("seed %d: no memory", seed))
		}
		return e.Run(ctx, seed, nil)
	}}
	b.Failed = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*told = append(*told, err.Error())
	}
	return b, told
}

// A run whose world has an error is repeated, and takes its place in the order of seeds.
func TestFailedRunIsRepeated(t *testing.T) {
	b, told := failing(t, map[uint64]int{2: 1, 7: 1})
	var seeds []uint64
	b.Each = func(r runner.Result) { seeds = append(seeds, r.Seed) }
	tally, err := b.Run(t.Context())
	if err != nil || tally.Runs != b.Runs || tally.Conclusion() != runner.AsExpected || !slices.Equal(seeds, []uint64{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("%d runs, %v, %v, seeds %d", tally.Runs, tally.Conclusion(), err, seeds)
	}
	if len(*told) != 2 {
		t.Errorf("told of %q", *told)
	}
}

// A world that has an error again ends the batches, and so do too many errors. Without a function
// that learns of them the first one does.
func TestFailuresEndTheBatches(t *testing.T) {
	b, told := failing(t, map[uint64]int{3: 2})
	if tally, err := b.Run(t.Context()); err == nil || tally.Runs != 2 || len(*told) != 1 {
		t.Errorf("it fails again: %v after %d runs, told of %q", err, tally.Runs, *told)
	}
	b, told = failing(t, map[uint64]int{1: 9, 2: 9, 3: 9, 4: 9, 5: 9, 6: 9, 7: 9, 8: 9})
	if _, err := b.Run(t.Context()); err == nil || len(*told) != 5 {
		t.Errorf("everything fails: %v, told of %q", err, *told)
	}
	b, _ = failing(t, map[uint64]int{4: 1})
	b.Failed = nil
	if tally, err := b.Run(t.Context()); err == nil || tally.Runs != 3 {
		t.Errorf("nobody is told: %v after %d runs", err, tally.Runs)
	}
}

// A program that is missing will be missing again: the first error ends the batches, and is the only one.
func TestMissingProgramEndsTheBatches(t *testing.T) {
	for _, why := range []error{exec.ErrNotFound, fs.ErrNotExist} {
		b, told := failing(t, nil)
		b.One = func(context.Context, uint64) (runner.Result, error) {
			return runner.Result{}, runner.WorldError(fmt.Errorf("no etcd: %w", why))
		}
		if _, err := b.Run(t.Context()); !errors.Is(err, why) || len(*told) > 0 {
			t.Errorf("%v, told of %q", err, *told)
		}
	}
}

// A machine that is too slow for anything is not asked again and again.
func TestHopelessMachineIsLeftAlone(t *testing.T) {
	late := map[uint64][]time.Duration{}
	for seed := range uint64(50) {
		late[1+seed] = []time.Duration{time.Hour}
	}
	b, order := slipping(t, "crash-restart", late)
	b.Runs = len(late)
	tally, err := b.Run(t.Context())
	if err != nil || tally.Slipped != b.Runs || tally.Runs != b.Runs {
		t.Errorf("%d of %d slipped, %v", tally.Slipped, tally.Runs, err)
	}
	if repeated := len(*order) - b.Runs; repeated == 0 || repeated >= b.Runs {
		t.Errorf("%d repetitions of %d runs that all slip", repeated, b.Runs)
	}
}

// Batches that run as one amount to what each amounts to by itself, and the first error by
// their order, and not by time, ends them.
func TestBatchesRunAsOne(t *testing.T) {
	names := []string{"crash-restart", "calm", "delayed-restart"}
	var batches []runner.Batch
	for i, name := range names {
		batches = append(batches, runner.Batch{Experiment: prepared(t, simulator, find(t, name)), First: uint64(10 * i), Runs: 5 * i})
	}
	tallies, err := runner.RunBatches(t.Context(), 4, batches)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range batches {
		alone, err := b.Run(t.Context())
		if err != nil || alone.Witness != tallies[i].Witness || alone.WitnessTrace != tallies[i].WitnessTrace ||
			alone.Runs != tallies[i].Runs || alone.Shown != tallies[i].Shown || alone.Interrupted != tallies[i].Interrupted {
			t.Errorf("%s: %+v together, %+v alone, %v", names[i], tallies[i], alone, err)
		}
	}

	broken := make(chan struct{})
	batches[1].Name, batches[2].Name = "the second", "the third"
	batches[1].One = func(context.Context, uint64) (runner.Result, error) {
		<-broken
		return runner.Result{}, errors.New("rust")
	}
	batches[2].One = func(context.Context, uint64) (runner.Result, error) {
		defer close(broken)
		return runner.Result{}, errors.New("dust")
	}
	batches[1].Runs, batches[2].Runs = 1, 1
	if _, err = runner.RunBatches(t.Context(), 4, batches); err == nil || err.Error() != "the second: rust" {
		t.Errorf("got %v", err)
	}
}
