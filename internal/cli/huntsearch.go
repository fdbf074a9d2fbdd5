package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/spf13/cobra"
)

// huntOptions are the flags of hunt.
type huntOptions struct {
	lock       string
	properties []string
	assumed    string
	faults     string
	most       int
	budget     time.Duration
	runs       int
	seed       uint64
	first      bool
	out        string
	format     string
	parallel   int // runs at a time; 0: one per core
	report     reportFile
	shards     shardOptions
	around     scenarios.Scenario // that is hunted; the zero value: none
}

const (
	defaultBudget = time.Minute
	defaultLock   = "redlock"
	// usualMost is the default of the largest number of faults in a run.
	usualMost = 6
	// promisedWord is the value of --assume that selects the promises of the lock.
	promisedWord = "promised"
)

// settle checks the flags and fills in defaults.
func (o *huntOptions) settle(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	switch {
	case len(args) > 0 && given("lock"):
		return errors.New("--lock: the scenario already names its lock")
	case given("property") && len(o.properties) == 0: // an empty variable of a script, maybe
		return errors.New("--property: want at least one property")
	case o.most < 1 || o.most > nemesis.MostFaults:
		return fmt.Errorf("--most %d: want 1 to %d", o.most, nemesis.MostFaults)
	}
	if o.budget == 0 && o.runs == 0 {
		o.budget = defaultBudget
	}
	return nil
}

// search is a hunt as configured by the flags.
type search struct {
	hunt.Hunt
	budget time.Duration // 0: as long as it takes
	most   int           // runs; 0: as many as there are
	first  bool
}

// search returns the hunt that the flags configure, or the error in them.
func (o *huntOptions) search(args []string) (q search, err error) {
	q = search{
		Hunt:   hunt.Hunt{Backend: backends[0].Backend, MaxFaults: o.most, Seed: o.seed, SideBySide: o.parallel},
		budget: o.budget, most: o.runs, first: o.first,
	}
	if q.Wanted, err = findProperties("property", o.properties); err != nil {
		return q, err
	}
	if q.Faults, err = nemesis.ParseWeights(o.faults); err != nil {
		return q, fmt.Errorf("--faults %q: %w", o.faults, err)
	}
	if q.Space, err = o.ground(args, q); err != nil {
		return q, err
	}
	if err := q.Validate(); err != nil {
		return q, fmt.Errorf("--faults %q: %w", o.faults, err)
	}
	if q.Terms, err = o.terms(); err != nil {
		return q, err
	}
	return q, cmp.Or(writableDir("--out", o.out), o.report.check("report"))
}

// ground returns the search space of the hunt.
func (o *huntOptions) ground(args []string, q search) (hunt.SearchSpace, error) {
	if len(args) == 0 {
		g, err := hunt.SpaceOfLock(o.lock)
		if err != nil {
			return nil, fmt.Errorf("--lock: %w. Test a lock of your own with package locktest: docs/test-your-lock.md", err)
		}
		return g, nil
	}
	s, err := findAnd(args[0], func(s scenarios.Scenario) error {
		_, err := runner.Prepare(q.Backend, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.around = s
	return hunt.SpaceAround(s), nil
}

// terms returns the promises of the lock that the hunt tests.
func (o *huntOptions) terms() (func(scenarios.Scenario) promises.Terms, error) {
	switch o.assumed {
	case "":
		return promises.Unconditional, nil
	case promisedWord:
		return promises.Of, nil
	}
	terms, err := promises.Load(o.assumed)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--assume %s: no such file: want a file or %q", o.assumed, promisedWord)
	case err != nil:
		return nil, fmt.Errorf("--assume: %w", err)
	}
	return terms, nil
}

// hunted returns the properties that the hunt searches violations of.
func (q search) hunted() []checker.Property {
	if len(q.Wanted) > 0 {
		return q.Wanted
	}
	return checker.Properties()
}

// enough reports whether the hunt may end.
func (q search) enough(b *hunt.Results) bool {
	return q.most > 0 && b.Runs >= q.most || q.first && len(b.First) > 0 || b.Has(q.hunted())
}

// haul is the result of one hunt.
type haul struct {
	hunt.Results
	took    time.Duration
	after   map[checker.Property]time.Duration // until each property was first found
	stopped bool                               // by whoever started it
}

// silent reports whether finding nothing is meaningless, because no run could show a violation.
func (h haul) silent(q search) bool {
	never := func(p checker.Property) bool { return h.Tested[p] == 0 }
	return len(h.Tested) == 0 || slices.ContainsFunc(q.Wanted, never)
}

// ended returns the exit code of the hunt.
func (h haul) ended(q search) error {
	switch {
	case len(h.First) > 0:
		return verdictError(exitContradiction)
	case h.stopped || h.silent(q):
		return verdictError(exitUndecided)
	}
	return nil
}

// run hunts until enough is found, the budget is spent or ctx ends.
func (q search) run(ctx context.Context, watch huntLine) (haul, error) {
	began := time.Now()
	h := haul{after: map[checker.Property]time.Duration{}}
	q.Each = func(s hunt.Run) bool {
		for _, p := range h.Add(s) {
			h.after[p] = time.Since(began)
		}
		watch.see(q, &h.Results, time.Since(began))
		return !q.enough(&h.Results)
	}
	budgeted, cancel := withBudget(ctx, q.budget)
	defer cancel()
	err := q.Run(budgeted)
	h.took, h.stopped = time.Since(began), ctx.Err() != nil
	return h, err
}

// watched is run with a progress line.
func (q search) watched(ctx context.Context, problems io.Writer) (haul, error) {
	line := newHuntLine(problems, q.Space.Name())
	defer line.Done()
	return q.run(ctx, line)
}

// huntLine is the progress line of a hunt.
type huntLine struct{ *terminal.Bar }

func newHuntLine(problems io.Writer, what string) huntLine {
	return huntLine{terminal.NewBar(problems, what, 0, terminal.Told)}
}

func (l huntLine) see(q search, b *hunt.Results, took time.Duration) {
	if !l.Due() {
		return
	}
	if q.budget > 0 { // as many runs as there will be by then
		l.At(b.Runs, int(float64(b.Runs)*max(1, q.budget.Seconds()/took.Seconds())))
		l.Left("%v left", (q.budget - took).Round(time.Second))
	} else {
		l.At(b.Runs, q.most)
		l.Left("%d runs left", q.most-b.Runs)
	}
	// The end of the line is cut off on a narrow terminal.
	var parts []string
	for _, p := range b.Found() {
		parts = append(parts, fmt.Sprintf("%s ✗ %d", p.Code(), b.Violations[p]))
	}
	parts = append(parts, fmt.Sprintf("%d runs", b.Runs), fmt.Sprintf("%d grants", b.Grants), fmt.Sprintf("%d faults", b.Faults))
	l.Say(", %s", strings.Join(parts, ", "))
}
