package storm

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Batch is many runs of one experiment, with the seeds First, First+1, …
type Batch struct {
	Experiment Experiment
	First      uint64
	Runs       int

	// One runs one seed; nil means [Experiment.Run] without keeping the history.
	One func(ctx context.Context, seed uint64) (Result, error)

	// Each is called for every result, in the order of the seeds.
	Each func(Result)
}

// Run runs the batch: on all cores where the backend's runs are exact, one
// after another where they share the machine's real time. It stops at the
// first error, and early but without an error when ctx ends.
func (b Batch) Run(ctx context.Context) (Tally, error) {
	one := b.One
	if one == nil {
		one = func(ctx context.Context, seed uint64) (Result, error) {
			return b.Experiment.Run(ctx, seed, nil)
		}
	}
	workers := 1
	if b.Experiment.backend.Exact {
		workers = min(runtime.GOMAXPROCS(0), b.Runs)
	}
	tally := NewTally(b.Experiment.scenario)
	err := inOrder(ctx, workers, b.Runs, func(ctx context.Context, i int) (Result, error) {
		seed := b.First + uint64(i)
		r, err := one(ctx, seed)
		if err != nil && b.Experiment.generator != nil { // each run has a plan of its own
			err = fmt.Errorf("seed %d: %w", seed, err)
		}
		return r, err
	}, func(r Result) {
		tally.Add(r)
		if b.Each != nil {
			b.Each(r)
		}
	})
	tally.Interrupted = tally.Interrupted || tally.Runs < b.Runs && err == nil
	return tally, err
}

// inOrder calls work for 0 to n-1 on some workers, and take for each result in
// the order of the numbers, on the caller's goroutine. It ends with the first
// error, by number; when ctx ends it takes what is done up to the first gap. No
// worker runs further ahead than a few numbers, so that memory does not grow
// with n.
func inOrder[T any](ctx context.Context, workers, n int, work func(context.Context, int) (T, error), take func(T)) error {
	ctx, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop() // first, so that what is under way ends early

	type outcome struct {
		value T
		err   error
	}
	type job struct {
		number int
		done   chan outcome
	}
	todo := make(chan job)
	pending := make(chan job, 4*workers) // in the order of the numbers
	for range workers {
		group.Go(func() {
			for j := range todo {
				v, err := work(ctx, j.number)
				j.done <- outcome{v, err}
			}
		})
	}
	group.Go(func() {
		defer close(pending)
		defer close(todo)
		for i := range n {
			j := job{i, make(chan outcome, 1)}
			select {
			case todo <- j:
			case <-ctx.Done():
				return
			}
			pending <- j // there is room, or the caller makes some
		}
	})
	for j := range pending {
		o := <-j.done
		if o.err != nil {
			stop()
			for range pending { // let the feeder end
			}
			return o.err
		}
		take(o.value)
	}
	return nil
}

// Tally is what a batch of runs amounts to.
type Tally struct {
	Scenario scenarios.Scenario
	Runs     int

	// Seen counts the runs by the verdict that a property got.
	Seen map[checker.Property]map[checker.Verdict]int

	// Violations counts the violations of a property in all runs.
	Violations map[checker.Property]int

	// First and FirstUnknown hold, for each property, the first run that
	// violated it or left it open.
	First, FirstUnknown map[checker.Property]Result

	// Shown counts the runs that showed by themselves what was expected, Against
	// those that showed what no further run can mend. Witness is the seed of the
	// first against, or else of the first that showed it, and WitnessTrace the hash
	// of its trace.
	Shown, Against int
	Witness        uint64
	WitnessTrace   uint64

	// Measured is the measurements of all runs.
	Measured Aggregate

	// Calm counts the runs in which no fault took place: silence in them says
	// little.
	Calm int

	Interrupted bool
}

// NewTally returns the tally of no runs.
func NewTally(s scenarios.Scenario) Tally {
	t := Tally{
		Scenario: s,
		Seen:     map[checker.Property]map[checker.Verdict]int{},
		First:    map[checker.Property]Result{},

		FirstUnknown: map[checker.Property]Result{},
		Violations:   map[checker.Property]int{},
	}
	for _, p := range checker.Properties() {
		t.Seen[p] = map[checker.Verdict]int{}
	}
	return t
}

// Add counts one run.
func (t *Tally) Add(r Result) {
	t.Runs++
	t.Measured.Add(r.Report.Measurements)
	t.Interrupted = t.Interrupted || r.Interrupted
	if r.Report.Measurements.Faults == 0 {
		t.Calm++
	}
	for _, f := range r.Report.Findings {
		t.Seen[f.Property][f.Verdict]++
		switch f.Verdict {
		case checker.Violated:
			t.Violations[f.Property] += f.Count
			keepFirst(t.First, f.Property, r)
		case checker.Unknown:
			keepFirst(t.FirstUnknown, f.Property, r)
		}
	}
	switch {
	case r.Contradicts():
		if t.Against == 0 {
			t.Witness, t.WitnessTrace = r.Seed, r.TraceHash
		}
		t.Against++
	case r.AsExpected():
		if t.Shown == 0 && t.Against == 0 {
			t.Witness, t.WitnessTrace = r.Seed, r.TraceHash
		}
		t.Shown++
	}
}

func keepFirst(first map[checker.Property]Result, p checker.Property, r Result) {
	if _, seen := first[p]; !seen {
		first[p] = r
	}
}

// Observed is the verdict over all runs: violated if one run showed it,
// otherwise unknown if one run left it open, otherwise what they agree on.
func (t Tally) Observed(p checker.Property) checker.Verdict {
	for _, v := range []checker.Verdict{checker.Violated, checker.Unknown, checker.Holds} {
		if t.Seen[p][v] > 0 {
			return v
		}
	}
	if t.Runs == 0 {
		return checker.Unknown
	}
	return checker.NotApplicable
}

// Rate is the share of runs that violated the property, of those in which that
// was decided: a run that left it open, or in which there was nothing to judge,
// is not counted.
func (t Tally) Rate(p checker.Property) Rate {
	k := t.Seen[p][checker.Violated]
	return Rate{K: k, N: k + t.Seen[p][checker.Holds]}
}

// PerGrant is how often the property was violated, of all grants. It is at most 1,
// though a grant may have part in several violations.
func (t Tally) PerGrant(p checker.Property) Rate {
	grants := t.Measured.All().Grants
	return Rate{K: min(t.Violations[p], grants), N: grants}
}

// Outcome is how runs compare with what was expected of them.
type Outcome uint8

// The outcomes.
const (
	// AsExpected: what should hold held in every run, and what should be
	// violated was in at least one.
	AsExpected Outcome = iota + 1
	// Contradiction: a run showed what no further run can mend.
	Contradiction
	// Undecided: something was left open, was not shown, or was cut short.
	Undecided
)

func (o Outcome) String() string {
	switch o {
	case AsExpected:
		return "as expected"
	case Contradiction:
		return "contradiction"
	}
	return "undecided"
}

// Outcome compares the runs with the scenario's expectations. One run can
// contradict them; nothing less than all runs can fulfil them.
func (t Tally) Outcome() Outcome {
	switch {
	case t.Against > 0:
		return Contradiction
	case t.Interrupted || t.Runs == 0:
		return Undecided
	}
	for _, p := range checker.Properties() {
		if !t.Scenario.Expect.Fulfilled(p, t.Seen[p], t.Runs) {
			return Undecided
		}
	}
	return AsExpected
}
