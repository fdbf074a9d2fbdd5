package storm

import (
	"context"
	"runtime"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Batch is many runs of one scenario on one backend, with the seeds First,
// First+1, …
type Batch struct {
	Backend  Backend
	Scenario scenarios.Scenario
	First    uint64
	Runs     int

	// One runs one seed; nil means [Run] without keeping the history.
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
			return Run(ctx, b.Backend, b.Scenario, seed, nil)
		}
	}
	workers := 1
	if b.Backend.Exact {
		workers = min(runtime.GOMAXPROCS(0), b.Runs)
	}
	tally := NewTally(b.Scenario)
	err := inOrder(ctx, workers, b.Runs, func(ctx context.Context, i int) (Result, error) {
		return one(ctx, b.First+uint64(i))
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
// error, by number; when ctx ends it takes what is done up to the first gap.
func inOrder[T any](ctx context.Context, workers, n int, work func(context.Context, int) (T, error), take func(T)) error {
	ctx, stop := context.WithCancel(ctx)
	type outcome struct {
		value T
		err   error
	}
	slots := make([]chan outcome, n)
	for i := range slots {
		slots[i] = make(chan outcome, 1)
	}
	next := make(chan int)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop() // first, so that what is under way ends early
	for range workers {
		group.Go(func() {
			for i := range next {
				v, err := work(ctx, i)
				slots[i] <- outcome{v, err}
			}
		})
	}
	group.Go(func() {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				for ; i < n; i++ {
					close(slots[i])
				}
				return
			}
		}
	})
	for i := range n {
		o, ok := <-slots[i]
		switch {
		case !ok:
			return nil
		case o.err != nil:
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

	// First and FirstUnknown hold, for each property, the first run that
	// violated it or left it open.
	First, FirstUnknown map[checker.Property]Result

	// Shown counts the runs that showed by themselves what was expected;
	// FirstShown is the seed of the first of them.
	Shown      int
	FirstShown uint64

	Interrupted bool
}

// NewTally returns the tally of no runs.
func NewTally(s scenarios.Scenario) Tally {
	t := Tally{
		Scenario: s,
		Seen:     map[checker.Property]map[checker.Verdict]int{},
		First:    map[checker.Property]Result{},

		FirstUnknown: map[checker.Property]Result{},
	}
	for _, p := range checker.Properties() {
		t.Seen[p] = map[checker.Verdict]int{}
	}
	return t
}

// Add counts one run.
func (t *Tally) Add(r Result) {
	t.Runs++
	t.Interrupted = t.Interrupted || r.Interrupted
	for _, f := range r.Report.Findings {
		t.Seen[f.Property][f.Verdict]++
		switch f.Verdict {
		case checker.Violated:
			keepFirst(t.First, f.Property, r)
		case checker.Unknown:
			keepFirst(t.FirstUnknown, f.Property, r)
		}
	}
	if r.AsExpected() {
		if t.Shown == 0 {
			t.FirstShown = r.Seed
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

// Outcome compares the runs with the scenario's expectations, property by
// property, and returns the worst: a contradiction, then undecided.
func (t Tally) Outcome() Outcome {
	worst := AsExpected
	if t.Interrupted || t.Runs == 0 {
		worst = Undecided
	}
	for _, p := range checker.Properties() {
		switch t.outcome(p) {
		case Contradiction:
			return Contradiction
		case Undecided:
			worst = Undecided
		}
	}
	return worst
}

func (t Tally) outcome(p checker.Property) Outcome {
	observed := t.Observed(p)
	expected, stated := t.Scenario.Expect[p]
	switch {
	case observed == expected:
		return AsExpected
	case observed == checker.Violated:
		return Contradiction
	case observed == checker.Unknown:
		return Undecided
	case !stated:
		return AsExpected
	case expected == checker.Violated:
		return Undecided
	}
	// One of "holds" and "n/a" was expected, and the other seen.
	return Contradiction
}
