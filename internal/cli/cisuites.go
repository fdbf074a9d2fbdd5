package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// savedCase is a case that is ready to run.
type savedCase struct {
	replay
	experiment runner.Experiment
}

// caseStage returns the stage of saved cases.
func (o *ciOptions) caseStage() (stage, error) {
	suite := ci.Suite{Name: casesSuite}
	from := o.cases
	if len(from) == 0 {
		if _, err := os.Stat(usualCases); errors.Is(err, fs.ErrNotExist) {
			suite.Note = "no cases: " + usualCases + " does not exist, and --cases is not set"
		} else {
			from = []string{usualCases}
		}
	}
	var saved []savedCase
	for _, name := range from {
		some, err := loadCases(name)
		if err != nil {
			return nil, fmt.Errorf("--cases: %w", err)
		}
		saved = append(saved, some...)
	}
	for _, s := range saved {
		o.addKind(s.experiment.Scenario().Lock.Kind)
	}
	return func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error) {
		ctx, cancel := d.early().limit(ctx)
		defer cancel()
		bar := terminal.NewBar(problems, casesSuite, int64(len(saved)), terminal.Pieces)
		defer bar.Done()
		var failed error
		for _, s := range saved {
			check, err := o.checkCase(ctx, s, problems)
			failed = errors.Join(failed, err)
			suite.Checks = append(suite.Checks, check)
			bar.Step()
		}
		return suite, failed
	}, nil
}

// loadCases loads the case in a file, or all in a directory.
func loadCases(name string) ([]savedCase, error) {
	info, err := files.Stat(name)
	if err != nil {
		return nil, err
	}
	paths := []string{name}
	if info.IsDir() {
		if paths, err = casesIn(name); err != nil {
			return nil, err
		}
	}
	var all []savedCase
	for _, path := range paths {
		r, err := replayOfCase(path)
		if err != nil {
			return nil, err
		}
		e, err := r.prepare()
		if err != nil {
			return nil, err
		}
		all = append(all, savedCase{r, e})
	}
	return all, nil
}

// casesIn lists the cases in a directory by name. No case is an error, because a suite that looks
// in the wrong place would pass.
func casesIn(dir string) (paths []string, err error) {
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if isCase(f.Name()) {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no case in it (a file *%s)", dir, cases.Extension)
	}
	return paths, nil
}

// checkCase runs a case, and stores the run if its verdict differs from the case.
func (o *ciOptions) checkCase(ctx context.Context, s savedCase, problems io.Writer) (ci.Check, error) {
	path := s.again.name
	check := ci.Check{Name: filepath.Base(path), File: path, Command: textfmt.Command("replay", path)}
	if ctx.Err() != nil {
		return leftOut(ctx, check), nil
	}
	began := time.Now()
	result, err := s.experiment.Run(ctx, s.seed, nil)
	if err != nil {
		check.Outcome, check.Summary = ci.Undecided, whyEnded(ctx)
		return check, fmt.Errorf("%s: %w", path, err)
	}
	check.Took = time.Since(began)
	conclusion, finding := s.kept.Judge(result), result.Report.Finding(s.kept.Property)
	check.Outcome = ci.Of(conclusion)
	switch {
	case conclusion == runner.AsExpected:
		return check, nil
	case result.Interrupted:
		check.Summary = "not run to its end: " + whyEnded(ctx)
		return check, nil
	}
	check.Summary, check.Story = againstCase(*s.kept, finding, conclusion), told(finding.Lines()...)
	err = o.keepRun(ctx, &check, s.experiment, s.again, s.seed, s.kept.Property, problems)
	return check, err
}

// rowChecks are rows and points of the debate, and scenarios in files, ready to run.
type rowChecks struct {
	suite
	options *ciOptions
	files   map[string]string // of the scenarios that come from files, by their names
}

// rowStage returns the stage of the debate.
func (o *ciOptions) rowStage() (stage, error) {
	rows, files := o.rowsAndFiles()
	r := rowChecks{options: o, files: map[string]string{}}
	runs, _ := (&debate{}).usual(o.backend)
	options := suiteOptions{backend: o.backend, runs: cmp.Or(o.runs, runs), seed: 1}
	if len(rows) > 0 || len(files) == 0 {
		d, err := choose(rows)
		if err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
		r.tasks = d.tasks(options)
	}
	r.what, r.backend = debateSuite, o.backend
	for _, path := range files {
		if err := r.addFile(path, options.runs); err != nil {
			return nil, fmt.Errorf("--rows: %w", err)
		}
	}
	for _, t := range r.tasks {
		o.addKind(t.Scenario.Lock.Kind)
	}
	if !o.backend.Exact { // what cannot be repeated is kept as it is run
		r.out = o.runsDir()
	}
	return r.run, nil
}

// rowsAndFiles returns the names of rows and series in --rows, and the scenario files.
func (o *ciOptions) rowsAndFiles() (rows, files []string) {
	for _, name := range o.rows {
		if isFile(name) {
			files = append(files, name)
		} else {
			rows = append(rows, name)
		}
	}
	return rows, files
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
	if slices.ContainsFunc(r.tasks, func(t task) bool { return t.Scenario.Name == s.Name }) {
		return fmt.Errorf("%s: another scenario is also named %s: rename one", path, s.Name)
	}
	r.files[s.Name] = path
	r.tasks = append(r.tasks, task{Scenario: s, First: 1, Runs: runs})
	return nil
}

// run runs everything as one batch, and returns a check for each scenario.
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
		check := r.check(ctx, t, found[t.Scenario.Name], refused)
		check.Took = w.took[t.Scenario.Name]
		if first, seen := w.first[t.Scenario.Name]; seen && check.Outcome != ci.AsExpected {
			check.Summary, check.Story = tellRun(first.Result)
			check.Command = r.again(t.Scenario).command(stored{Result: first.Result})
			failed = errors.Join(failed, r.keep(ctx, &check, first, problems))
			w.keep(first)
		}
		suite.Checks = append(suite.Checks, check)
	}
	return suite, errors.Join(failed, w.tidy())
}

// name returns the name that the user gave a scenario.
func (r rowChecks) name(s scenarios.Scenario) string { return cmp.Or(r.files[s.Name], s.Name) }

// again returns the commands that repeat a run of a scenario.
func (r rowChecks) again(s scenarios.Scenario) repetition {
	return repetition{name: r.name(s), backend: r.backend, flags: r.options.world}
}

// check returns the check of a scenario; there may be no runs yet.
func (r rowChecks) check(ctx context.Context, t task, tally runner.Tally, refused []refusal) ci.Check {
	again := r.again(t.Scenario)
	check := ci.Check{
		Name: again.name, File: r.files[t.Scenario.Name],
		Command: textfmt.Command(slices.Concat([]string{"run", again.name}, again.flags, []string{"--runs", fmt.Sprint(t.Runs)})...),
	}
	if i := slices.IndexFunc(refused, func(no refusal) bool { return no.scenario == t.Scenario.Name }); i >= 0 {
		check.Outcome, check.Summary, check.Command = ci.NotApplicable, refused[i].why.Error(), ""
		return check
	}
	if tally.Runs == 0 {
		return leftOut(ctx, check)
	}
	check.Outcome = ci.Of(tally.Conclusion())
	switch {
	case tally.Runs < t.Runs && check.Outcome != ci.Contradiction: // which further runs cannot mend
		check.Outcome = ci.Undecided
		check.Summary = fmt.Sprintf("run %d times of %d: %s", tally.Runs, t.Runs, whyEnded(ctx))
	case check.Outcome == ci.AsExpected:
		check.Summary, check.Command = verdictsIn(tally), ""
	case tally.Slipped > 0:
		check.Summary = summary.Slowness(tally)
	default:
		check.Summary = notShown(tally)
	}
	return check
}

// keep stores a run that shows a failure: by repeating it, or, if it cannot be repeated exactly,
// as it was stored.
func (r rowChecks) keep(ctx context.Context, c *ci.Check, first stored, problems io.Writer) error {
	if !r.backend.Exact {
		pictures := violations{seen: map[pictured]bool{}}
		pictures.add(first)
		c.Files = evidence(first.dir, pictures.draw(problems))
		return nil
	}
	e, err := prepareOn(r.backend, first.Scenario)
	if err != nil {
		return err
	}
	return r.options.keepRun(ctx, c, e, r.again(first.Scenario), first.Seed, telling(first.Result)[0].Property, problems)
}

// verdictsIn returns the verdicts of runs as signs.
func verdictsIn(t runner.Tally) string {
	return fmt.Sprintf("%s in %s", summary.Signs(t), textfmt.Count(t.Runs, "run"))
}

// notShown names the limits that do not hold, or else the expected violations that no run has
// shown.
func notShown(t runner.Tally) string {
	if outside := report.OutsideLimits(t); outside != "" {
		return outside
	}
	var titles []string
	for _, p := range checker.Properties() {
		if want, _ := t.Scenario.Expect.Want(p); want == checker.Violated && t.Seen[p][checker.Violated] == 0 {
			titles = append(titles, p.Title())
		}
	}
	return fmt.Sprintf("violations of %s are expected, but none occurred: %s", strings.Join(titles, ", "), verdictsIn(t))
}

// telling returns the findings of a run that are not as expected: contradictions, or else findings
// that were left open.
func telling(r runner.Result) (list []checker.Finding) {
	for _, f := range r.Report.Findings {
		if r.Scenario.Expect.Judge(f.Property, f.Verdict) == scenarios.Contradicted {
			list = append(list, f)
		}
	}
	if len(list) > 0 || r.Interrupted || r.Slipped() {
		return list
	}
	for _, f := range r.Report.Findings {
		if want := r.Scenario.Expect[f.Property]; f.Verdict == checker.Unknown && want != checker.Unknown {
			list = append(list, f)
		}
	}
	return list
}

// tellRun describes a run that is not as expected, in a line and in a story.
func tellRun(r runner.Result) (says, story string) {
	var stands, stories []string // what is said of some properties, once
	titles := map[string][]string{}
	var before checker.Finding
	for _, f := range telling(r) {
		stand := standingOf(r, f)
		if titles[stand] == nil {
			stands = append(stands, stand)
		}
		titles[stand] = append(titles[stand], f.Property.Title())
		if !checker.SameOverlap(before, f) {
			lines := f.Lines()
			if as, s := promises.Told(r.Executed(), f); s != "" && f.Verdict == checker.Violated {
				lines = append(as.Lines(), textfmt.Sentence(s)+".")
			}
			stories = append(stories, told(lines...))
		}
		before = f
	}
	for i, stand := range stands {
		stands[i] = strings.Join(titles[stand], ", ") + ": " + stand
	}
	says = strings.Join(stands, "; ") + seeded(r)
	if r.Report.Cut != "" {
		says += ": " + r.Report.Cut
	}
	return says, strings.Join(stories, "\n")
}

// standingOf compares a verdict with the expected one.
func standingOf(r runner.Result, f checker.Finding) string {
	if want, wanted := r.Scenario.Expect.Want(f.Property); wanted {
		return fmt.Sprintf("%v, but %v is expected", f.Verdict, want)
	}
	return fmt.Sprintf("%v, but no verdict is expected", f.Verdict)
}

// huntStage returns the stage of the hunt.
func (o *ciOptions) huntStage() (stage, error) {
	q, err := o.hunt.search(nil)
	if err != nil {
		return nil, err
	}
	o.addKind(o.hunt.lock)
	return func(ctx context.Context, d deadline, problems io.Writer) (ci.Suite, error) {
		return o.hunted(ctx, q, d, problems)
	}, nil
}

// hunted hunts for the remaining time, and returns a check for each property.
func (o *ciOptions) hunted(ctx context.Context, q search, d deadline, problems io.Writer) (ci.Suite, error) {
	suite := ci.Suite{Name: huntSuite}
	limited, cancel := d.limit(ctx)
	defer cancel()
	if limited.Err() != nil {
		for _, p := range q.hunted() {
			suite.Checks = append(suite.Checks, leftOut(limited, huntCheck(p)))
		}
		return suite, nil
	}
	q.budget = time.Until(d.at)
	h, err := q.watched(ctx, problems)
	if err != nil {
		return suite, err
	}
	suite.Note = fmt.Sprintf("%s: %s (%s)", q.Space.Name(), h.headline(), h.figures(true))
	finds, failed := o.hunt.take(ctx, q, h, problems)
	for _, p := range q.hunted() {
		check := huntCheck(p)
		if shot, found := h.First[p]; found {
			check = o.broken(check, p, shot)
		} else {
			check = unbroken(check, p, q, h)
		}
		if i := slices.IndexFunc(finds, func(f find) bool { return f.Property == p }); i >= 0 {
			check, err = o.found(ctx, check, finds[i], problems)
			failed = errors.Join(failed, err)
		}
		suite.Checks = append(suite.Checks, check)
	}
	suite.Checks[0].Took = h.took // they are hunted all at once
	return suite, failed
}

func huntCheck(p checker.Property) ci.Check {
	return ci.Check{Name: fmt.Sprintf("%s %s", p.Code(), p.Title())}
}

// unbroken returns the check of a property without a violation.
func unbroken(c ci.Check, p checker.Property, q search, h haul) ci.Check {
	c.Summary = textfmt.Count(h.Tested[p], "run") + " exercised it"
	switch {
	case h.stopped:
		c.Outcome, c.Summary = ci.Undecided, c.Summary+"; then the hunt was stopped"
	case q.most > h.Runs && !q.enough(&h.Results):
		c.Outcome, c.Summary = ci.Undecided, fmt.Sprintf("%s; %d of %d runs before the time limit", c.Summary, h.Runs, q.most)
	case h.Tested[p] > 0:
		c.Outcome = ci.AsExpected
	case h.silent(q):
		c.Outcome, c.Summary = ci.Undecided, "no run exercised this or any other property"
	default:
		c.Outcome, c.Summary = ci.NotApplicable, "not exercised: it is not promised, the runs were outside the assumptions, or it has no bound"
	}
	return c
}

// broken returns the check of a violated property, with the hunt that finds the violation again
// until there is a shorter command.
func (o *ciOptions) broken(c ci.Check, p checker.Property, shot fuzz.Run) ci.Check {
	c.Outcome = ci.Contradiction
	c.Summary = fmt.Sprintf("%s violated in run %d of the hunt", p.Title(), shot.Number)
	c.Command = textfmt.Command("hunt", "--lock", o.hunt.lock, "--assume", o.hunt.assumed, "--seed", fmt.Sprint(o.hunt.seed), "--runs", fmt.Sprint(shot.Number))
	return c
}

// found adds the find after it was shrunk. Its run is stored beside its case.
func (o *ciOptions) found(ctx context.Context, c ci.Check, f find, problems io.Writer) (ci.Check, error) {
	c.Summary += ": " + f.standing(o.hunt.assumed)
	c.Story = f.shrunk() + "\n" + told(f.finding().Lines()...)
	if f.path == "" { // it could not be kept, which is told by itself
		return c, nil
	}
	c.Command, c.Files = textfmt.Command("replay", f.path), []string{f.path}
	saved, err := loadCases(f.path)
	if err != nil {
		return c, err
	}
	err = o.keepRun(ctx, &c, saved[0].experiment, saved[0].again, saved[0].seed, f.Property, problems)
	return c, err
}
