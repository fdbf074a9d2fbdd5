package locktest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Run tests a lock in storms, each a subtest. open is called for each client of each run
// and builds the client's lock.
//
// A subtest fails if a promised property ([Config.Promises]) is violated under a plan that
// the promise covers, or if the run itself fails, because the lock panics, leaves
// goroutines behind or lets virtual time stand still. Without faults it also fails if nobody is
// granted the lock, if each extension fails, or if long work shows that the lock loses each hold to
// which it gives no end. It is skipped if a promised property could not be decided (with generated
// plans: in none of the runs), or if nothing was judged, as when nobody is granted the lock. A skip is
// not a pass. Violations that no promise covers are logged.
//
// At the end Run says in one line what was tried of the lock and what was not, such as extensions. It
// writes the line to standard output, because go test shows the log of a passing test with -v only.
// go test with a list of packages shows neither.
//
// With -locktest.witness=DIR only the run stored there is run again.
func Run(t *testing.T, c Config, open func(Env) Locker) {
	t.Helper()
	var all external.Summary
	defer func() {
		t.Helper()
		conclude(t, cmp.Or(c.Name, t.Name()), &all)
	}()
	each(t, c, open, func(tr trial, t *testing.T, s Storm) error {
		t.Helper()
		return tr.storm(t, s, &all)
	})
}

// conclude says what all storms have tried, if any was run.
func conclude(t *testing.T, name string, all *external.Summary) {
	t.Helper()
	if all.Runs() == 0 {
		return
	}
	setAttr(t, external.Record{Summary: all.String(), Warning: all.Warnings})
	if t.Failed() || testing.Verbose() {
		t.Log(all)
		return
	}
	fmt.Printf("%s: %v\n", name, all)
}

// each calls try for each storm, in a subtest. An error of try means that a run failed. If
// the run of a storm without faults fails, the others are not tried.
func each(t *testing.T, c Config, open func(Env) Locker, try func(trial, *testing.T, Storm) error) {
	t.Helper()
	if insideBubble() {
		t.Fatal("locktest: called within a run, or another bubble of testing/synctest: call it in the test itself")
	}
	drawn := c.Drawn
	if c = c.filled(t.Name()); c.Storms != nil && drawn > 0 {
		c.Storms = withDrawn(c.Storms, drawn)
	}
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	if open == nil {
		t.Fatal("locktest: the function that makes the lock is nil")
	}
	if err := c.Store.installed(); err != nil {
		t.Fatal(err)
	}
	if c.Storms == nil {
		var refused []string
		c.Storms, refused = storms(c)
		if len(refused) > 0 {
			t.Logf("left out: %s", strings.Join(refused, "; "))
		}
	}
	if err := c.validateAccept(); err != nil {
		t.Fatal(err)
	}
	if c.world().bubble {
		defer rareGC.use()()
	}
	tr := trial{Config: c, make: open, file: testFile(), budget: newBudget(c.Budget, time.Now), defects: external.Defects{}}
	if *reproDir != "" {
		tr.repro(t, *reproDir)
		return
	}
	if err := tr.fit(); err != nil {
		t.Fatal(err)
	}
	for i, s := range c.Storms {
		if err := stalls.exhausted(); err != nil && c.world().bubble {
			t.Fatalf("%v: not run: %s", err, stormNames(c.Storms[i:]))
		}
		tr.budget.left = tr.count(c.Storms[i+1:])
		var err error
		t.Run(s.Name, func(t *testing.T) {
			t.Helper() // so that output has the line of the user's test
			if err = try(tr, t, s); err != nil {
				t.Error(err)
			}
		})
		if rest := len(c.Storms) - i - 1; err != nil && rest > 0 && len(s.Plan) == 0 && s.Generate == nil && s.Callers <= 1 {
			t.Fatalf("the run failed without any fault: %s more not tried", textfmt.Count(rest, "storm"))
		}
	}
}

// stormNames lists the names of storms.
func stormNames(storms []Storm) string {
	var names []string
	for _, s := range storms {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// fit returns an error if a storm cannot be run.
func (tr trial) fit() error {
	for i, s := range tr.Storms {
		scenario := tr.scenario(s)
		_, err := runner.PrepareExternal(tr.world().Backend, scenario, tr.external(scenario, nil))
		if err != nil {
			return wrong(fmt.Sprintf("Storms[%d]", i), "%s: %w", s.Name, err)
		}
	}
	return nil
}

// seeds returns the seeds of a storm's runs. After the largest comes 0. It returns a slice
// and not an iterator, because output from the body of a loop over a function would have
// the line of that body instead of the user's test.
func (tr trial) seeds(s Storm) []uint64 {
	seeds := make([]uint64, cmp.Or(s.Runs, tr.Runs))
	for i := range seeds {
		seeds[i] = tr.Seed + uint64(i)
	}
	return seeds
}

// count returns the number of runs of storms.
func (tr trial) count(storms []Storm) (runs int) {
	for _, s := range storms {
		runs += len(tr.seeds(s))
	}
	return runs
}

// storm runs one storm with one seed after another until one fails, and adds it to all.
func (tr trial) storm(t *testing.T, s Storm, all *external.Summary) error {
	t.Helper()
	sum := summary{accept: tr.accepted(s), accepted: map[checker.Property]int{}}
	open := ""
	record := external.Record{Storm: s.Name, File: tr.file}
	conclude := func(c runner.Conclusion, reason, story string) {
		record.Verdict, record.Reason, record.Story = c.String(), strings.Join(strings.Fields(reason), " "), story
	}
	defer func() {
		if sum.Runs > 0 {
			all.Add(&sum.Outcome, tr.Patience, open != "")
		}
		setAttr(t, record)
	}()
	for _, seed := range tr.seeds(s) {
		ended := tr.budget.began()
		o, err := tr.runSettled(t, tr.scenario(s), seed)
		if ended(); err != nil {
			conclude(runner.Contradiction, "the run failed: "+firstLine(err.Error()), improper(s, o, err).Error())
			return improper(s, o, err)
		}
		j := o.judge(tr.Config)
		sum.add(o, j)
		if j = sum.without(j); len(j.Broken) > 0 {
			f := tr.failure(t, o, j)
			record.Seed, record.Dir = f.run.Seed, f.dir
			if said := sum.NothingDone(); said != "" && sum.Grants == 0 {
				conclude(runner.Contradiction, said, f.text())
				return fmt.Errorf("%s\n\n%s", said, f.text())
			}
			t.Error(f.text())
			conclude(runner.Contradiction, f.reason(), f.story())
			return nil
		}
	}
	if said := sum.NothingDone(); said != "" {
		conclude(runner.Contradiction, said, "")
		if sum.Grants == 0 {
			return errors.New(said)
		}
		t.Error(said)
		return nil
	}
	t.Log(sum.text(s))
	conclude(runner.AsExpected, strings.Join(sum.limits(), "; "), "")
	for _, a := range sum.accept {
		if sum.accepted[a.Property] == 0 && sum.Slipped < sum.Runs {
			said := fmt.Sprintf("%s is violated no more, in %s: take it from Config.Accept (%s)", external.Named(a.Property), textfmt.Count(sum.Runs, "run"), a.Reason)
			conclude(runner.Contradiction, said, "")
			t.Error(said)
		}
	}
	open = sum.NothingJudged()
	if u, undecided := sum.Undecided(); undecided {
		open = fmt.Sprintf("seed %d: %s: %s", u.Seed, external.Named(u.Property), u.Story())
	}
	if open != "" && !t.Failed() {
		conclude(runner.Undecided, open, "")
		t.Skip("undecided, which is not a pass: " + open)
	}
	return nil
}

// improper returns the error of a failed run, with its plan and what the client library has logged.
func improper(s Storm, o runResult, err error) error {
	if said := lastLines(o.clientLog, shownLogLines); said != "" {
		err = fmt.Errorf("%w\n\nThe last lines that the client library has logged:\n\n%s", err, external.Indented(said))
	}
	if len(o.Plan) > 0 {
		err = fmt.Errorf("%w\n\n%s", err, external.PlanText(s.Name, o.Plan))
	}
	return fmt.Errorf("the run failed: %w", err)
}

// summary sums up the runs of a storm.
type summary struct {
	external.Outcome
	idle     []int // nodes that no client connected to
	accept   []Accepted
	accepted map[checker.Property]int // runs with violations that are accepted
}

// without takes the accepted violations from the judgment of a run, and counts them.
func (s *summary) without(j external.Judgment) external.Judgment {
	j.Broken = slices.DeleteFunc(slices.Clone(j.Broken), func(f checker.Finding) bool {
		is := slices.ContainsFunc(s.accept, func(a Accepted) bool { return a.Property == f.Property })
		if is {
			s.accepted[f.Property]++
		}
		return is
	})
	return j
}

func (s *summary) add(o runResult, j external.Judgment) {
	if s.Runs == 0 {
		s.idle = o.idle
	}
	s.Add(o.Result, j, o.did)
}

// text returns one line about the runs, and another one for each limit and each accepted violation.
func (s *summary) text(of Storm) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of the lock in %s; %s", cmp.Or(of.Summary, of.Name), textfmt.Count(s.Grants, "grant"), textfmt.Count(s.Runs, "run"), strings.Join(s.Verdicts(checker.Properties()), ", "))
	if hint := unused(s.idle); hint != "" {
		fmt.Fprintf(&b, "\n\t%s", hint)
	}
	for _, limit := range s.limits() {
		fmt.Fprintf(&b, "\n\tlimit: %s", limit)
	}
	return b.String()
}

// limits says which violations do not fail the test, and why.
func (s *summary) limits() (list []string) {
	list = s.LimitTexts()
	for _, a := range s.accept {
		if n := s.accepted[a.Property]; n > 0 {
			list = append(list, fmt.Sprintf("%s was violated in %d/%d runs, which Config.Accept accepts: %s", external.Named(a.Property), n, s.Runs, a.Reason))
		}
	}
	return list
}

// Seen is one run of a storm.
type Seen struct {
	runner.Result
	outcome runResult
	trial   trial
	t       *testing.T // the storm's
}

// Survey tests a lock as [Run] does, but judges nothing. Each run is passed to see, in the
// subtest of its storm, which continues with the next seed while see returns true. Only a
// run that fails itself fails the test.
//
// With -locktest.witness=DIR it does what Run does.
func Survey(t *testing.T, c Config, open func(Env) Locker, see func(*testing.T, Seen) (more bool)) {
	t.Helper()
	each(t, c, open, func(tr trial, t *testing.T, s Storm) error { return tr.survey(t, s, see) })
}

func (tr trial) survey(t *testing.T, s Storm, see func(*testing.T, Seen) bool) error {
	for _, seed := range tr.seeds(s) {
		o, err := tr.runSettled(t, tr.scenario(s), seed)
		if err != nil {
			return improper(s, o, err)
		}
		if !see(t, Seen{o.Result, o, tr, t}) {
			break
		}
	}
	return nil
}

// Beyond returns why a property is not promised of any lock under the plan that was carried
// out. nil means that it is, and that a lock that violates it there has a defect.
func (s Seen) Beyond(p checker.Property) error {

	return external.Beyond(s.Result, s.outcome.traits, p)
}

// Rerun runs the run again, times times.
func (s Seen) Rerun(times int) (runner.Tally, error) {
	again, err := s.trial.rerun(s.t, s.outcome, times, always)
	return again.Tally, err
}

// Keep stores the run in a new directory below parent. If the name is taken, a number is
// appended.
func (s Seen) Keep(parent, name string) (dir string, err error) {
	return s.outcome.store(parent, name, nil)
}
