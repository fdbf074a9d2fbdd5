package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// rowChecks are rows and points of the debate, and scenarios in files, ready to be run.
type rowChecks struct {
	suite
	options *ciOptions
	files   map[string]string // of the scenarios that come from files, by their names
}

// rowStage makes the stage of the debate.
func (o *ciOptions) rowStage() (stage, error) {
	files := slices.DeleteFunc(slices.Clone(o.rows), func(name string) bool { return !isFile(name) })
	rows := slices.DeleteFunc(slices.Clone(o.rows), isFile)
	r := rowChecks{options: o, files: map[string]string{}}
	options := debateOptions{backend: o.backend, runs: o.runs, seed: 1}
	options.fill(rows)
	if len(rows) > 0 || len(files) == 0 {
		d, err := choose(rows)
		if err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
		r.tasks = options.suite(d).tasks
	}
	r.what, r.backend = debateSuite, o.backend
	for _, path := range files {
		if err := r.addFile(path, options.runs); err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
	}
	if !o.backend.Exact { // what cannot be repeated is kept as it is run
		r.out = o.runsDir()
	}
	return r.run, nil
}

// addFile adds the scenario in a file.
func (r *rowChecks) addFile(path string, runs int) error {
	s, err := findAnd(path, func(s scenarios.Scenario) error {
		_, err := prepareOn(r.backend, s)
		return err
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.tasks, func(t task) bool { return t.scenario.Name == s.Name }) {
		return fmt.Errorf("%s: its scenario is called %s, as another one that is run: give it another name", path, s.Name)
	}
	r.files[s.Name] = path
	r.tasks = append(r.tasks, task{s, 1, runs})
	return nil
}

// run runs everything as one lot, and says of each scenario what it has shown.
func (r rowChecks) run(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error) {
	ctx, cancel := d.limit(ctx)
	defer cancel()
	suite := ci.Suite{Name: debateSuite, Note: "backend " + r.backend.Name}
	w, err := newWitnesses(r.out)
	if err != nil {
		return suite, err
	}
	r.each = w.see
	var found report.Tallies
	var refused []refusal
	var failed error
	if ctx.Err() == nil { // otherwise a run might still begin, and say that it was cut short
		found, refused, failed = r.suite.run(ctx, problems)
	}
	for _, t := range r.tasks {
		check := r.check(ctx, t, found[t.scenario.Name], refused)
		check.Took = w.took[t.scenario.Name]
		if first, seen := w.first[t.scenario.Name]; seen && check.Outcome != ci.AsExpected {
			check.Says, check.Story = tellRun(first.Result)
			check.Again = r.again(t.scenario).command(stored{Result: first.Result})
			check.Kept, err = r.keep(ctx, first, problems)
			failed = errors.Join(failed, err)
			w.keep(first)
		}
		suite.Checks = append(suite.Checks, check)
	}
	return suite, errors.Join(failed, w.tidy())
}

// name is what a user calls a scenario.
func (r rowChecks) name(s scenarios.Scenario) string { return cmp.Or(r.files[s.Name], s.Name) }

// again knows how a run of a scenario is repeated.
func (r rowChecks) again(s scenarios.Scenario) repetition {
	return repetition{name: r.name(s), backend: r.backend, world: r.options.world}
}

// check says what the runs of a scenario amount to, of which none need be known.
func (r rowChecks) check(ctx context.Context, t task, tally runner.Tally, refused []refusal) ci.Check {
	again := r.again(t.scenario)
	check := ci.Check{
		Name: again.name, File: r.files[t.scenario.Name],
		Again: textfmt.Command("run", again.name) + again.world + fmt.Sprintf(" --runs %d", t.runs),
	}
	if i := slices.IndexFunc(refused, func(no refusal) bool { return no.scenario == t.scenario.Name }); i >= 0 {
		check.Outcome, check.Says, check.Again = ci.NotApplicable, refused[i].why.Error(), ""
		return check
	}
	if tally.Runs == 0 {
		return leftOut(ctx, check)
	}
	check.Outcome = ci.Of(tally.Conclusion())
	switch {
	case tally.Runs < t.runs && check.Outcome != ci.Contradiction: // which further runs cannot mend
		check.Outcome = ci.Undecided
		check.Says = fmt.Sprintf("run %d times of %d: %s", tally.Runs, t.runs, whyEnded(ctx))
	case check.Outcome == ci.AsExpected:
		check.Says, check.Again = verdictsIn(tally), ""
	case tally.Slipped > 0:
		check.Says = report.Slowness(tally)
	default:
		check.Says = notShown(tally)
	}
	return check
}

// keep keeps a run that tells something: by making it again, or, where that would be
// another run, as it was stored.
func (r rowChecks) keep(ctx context.Context, first stored, problems io.Writer) ([]string, error) {
	if !r.backend.Exact {
		pictures := album{seen: map[drawnFor]bool{}}
		pictures.add(first)
		return evidence(first.dir, pictures.draw(problems)), nil
	}
	e, err := prepareOn(r.backend, first.Scenario)
	if err != nil {
		return nil, err
	}
	return r.options.keepRun(ctx, e, r.again(first.Scenario), first.Seed, problems)
}
