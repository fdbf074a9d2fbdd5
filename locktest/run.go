package locktest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Run tries a lock in storms, each a subtest. open is called for each client of each run, and
// builds its lock on what it is given.
//
// A subtest fails where a property that is promised ([Config.Promises]) is violated under a
// plan for which it is, or where there was no proper run: the lock panics, something of it is
// left behind. It is skipped where only that is known that something promised could not be
// decided (of plans that are drawn, by none of the runs): that is never a pass. What is
// violated beyond the promises is logged.
//
// With -locktest.witness=DIR, a run that is stored there is run again and again instead.
func Run(t *testing.T, c Config, open func(Env) Locker) {
	t.Helper()
	each(t, c, open, trial.storm)
}

// each hands each storm to try, as a subtest. An error of that says that there was no proper
// run. Where that was so though nothing went wrong, it would be so in every storm.
func each(t *testing.T, c Config, open func(Env) Locker, try func(trial, *testing.T, Storm) error) {
	t.Helper()
	if insideBubble() {
		t.Fatal("locktest: called within a run, or another bubble of testing/synctest, in which no test can be run: call it in the test itself")
	}
	c = c.filled(t.Name())
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	if open == nil {
		t.Fatal("locktest: the function that makes the lock is nil")
	}
	if c.Storms == nil {
		c.Storms = storms(c)
	}
	tr := trial{c, open}
	if *reproDir != "" {
		tr.repro(t, *reproDir)
		return
	}
	if err := tr.fit(); err != nil {
		t.Fatal(err)
	}
	for i, s := range c.Storms {
		var err error
		t.Run(s.Name, func(t *testing.T) {
			t.Helper() // so that what is told bears the line of the user's test
			if err = try(tr, t, s); err != nil {
				t.Error(err)
			}
		})
		if rest := len(c.Storms) - i - 1; err != nil && rest > 0 && len(s.Plan) == 0 && s.Generate == nil {
			t.Fatalf("there was no proper run though nothing went wrong: %s more not tried", textfmt.Count(rest, "storm"))
		}
	}
}

// fit says which storm cannot be run, if one cannot.
func (tr trial) fit() error {
	for i, s := range tr.Storms {
		_, err := runner.PrepareExternal(tr.Backend.world().Backend, tr.scenario(s), runner.External{Name: tr.Name})
		if err != nil {
			return wrong(fmt.Sprintf("Storms[%d]", i), "%s: %w", s.Name, err)
		}
	}
	return nil
}

// seeds are those of a storm's runs. Behind the largest comes 0. They are a slice because what
// is told in the body of a loop over a function bears the line of that body, and not that of
// the user's test.
func (tr trial) seeds(s Storm) []uint64 {
	seeds := make([]uint64, cmp.Or(s.Runs, tr.Runs))
	for i := range seeds {
		seeds[i] = tr.Seed + uint64(i)
	}
	return seeds
}

// storm runs one storm, with one seed after another up to the first that fails.
func (tr trial) storm(t *testing.T, s Storm) error {
	t.Helper()
	sum := newSummary()
	for _, seed := range tr.seeds(s) {
		o, err := tr.runSettled(t, tr.scenario(s), seed)
		if err != nil {
			return improper(s, o, err)
		}
		j := o.judge(tr.Config)
		if len(j.broken) > 0 {
			t.Fatal(tr.failure(t, o, j))
		}
		sum.add(o, j)
	}
	t.Log(sum.text(s))
	if open := sum.undecided(s); open != "" {
		t.Skip("undecided, which is no pass: " + open)
	}
	return nil
}

// improper is the error of a storm in which there was no proper run, with the plan that was
// carried out, or, if it did not come to that, the one that was to be.
func improper(s Storm, o runResult, err error) error {
	plan := s.Plan
	if o.Plan != nil {
		plan = o.Plan
	}
	if len(plan) == 0 {
		return fmt.Errorf("there was no proper run: %w", err)
	}
	return fmt.Errorf("there was no proper run: %w\n\n%s", err, planText(s.Name, plan))
}

// planText tells a plan, as a storm that can be loaded.
func planText(name string, p nemesis.Plan) string {
	return "The plan:\n\n" + indented(Storm{Name: name, Plan: p}.text())
}

// summary is what the runs of a storm amount to.
type summary struct {
	tally  runner.Tally
	limits map[checker.Property]limit  // the first of each
	open   map[checker.Property]string // the first run in which what is promised was undecided
	firm   map[checker.Property]bool   // what was decided in some run
	idle   []int                       // nodes that nobody has dialled
	blind  bool                        // some run was judged without keys
}

func newSummary() *summary {
	return &summary{limits: map[checker.Property]limit{}, open: map[checker.Property]string{}, firm: map[checker.Property]bool{}}
}

func (s *summary) add(o runResult, j judgment) {
	if s.tally.Runs == 0 {
		s.tally, s.idle = runner.NewTally(o.Scenario), o.idle
	}
	s.tally.Add(o.Result)
	s.blind = s.blind || !o.header.Keys
	for _, l := range j.limits {
		if _, told := s.limits[l.Property]; !told {
			s.limits[l.Property] = l
		}
	}
	for _, f := range j.open {
		if s.open[f.Property] == "" {
			s.open[f.Property] = fmt.Sprintf("seed %d: %s: %s", o.Seed, named(f.Property), f.Story())
		}
	}
	for _, f := range o.Report.Findings {
		if f.Verdict == checker.Holds && !o.Slipped() {
			s.firm[f.Property] = true
		}
	}
}

// undecided tells of the first promise of which the runs leave open whether it was kept. Of
// plans that are drawn some cannot decide one, as where a client is cut off for good: it is
// enough that another does.
func (s *summary) undecided(of Storm) string {
	for _, p := range checker.Properties() {
		if open := s.open[p]; open != "" && (of.Generate == nil || !s.firm[p]) {
			return open
		}
	}
	return ""
}

// text tells what was seen, in a line and one more for each limit.
func (s *summary) text(of Storm) string {
	var b strings.Builder
	held := s.tally.Measured.All()
	fmt.Fprintf(&b, "%s: %s of the lock in %s", cmp.Or(of.Summary, of.Name), textfmt.Count(held.Grants, "grant"), textfmt.Count(s.tally.Runs, "run"))
	var verdicts []string
	for _, p := range checker.Properties() {
		if v := s.tally.Observed(p); v != checker.NotApplicable {
			verdicts = append(verdicts, fmt.Sprintf("%s %v", p.Code(), v))
		}
	}
	fmt.Fprintf(&b, "; %s", strings.Join(verdicts, ", "))
	if s.blind {
		fmt.Fprint(&b, "\n\tnot judged, for want of the lock's keys: L3, and whether releases and extensions say what is true")
	}
	if hint := unused(s.idle); hint != "" {
		fmt.Fprintf(&b, "\n\t%s", hint)
	}
	for _, p := range checker.Properties() {
		l, seen := s.limits[p]
		if !seen {
			continue
		}
		fmt.Fprintf(&b, "\n\ta limit: %s was violated in %v runs, and fails nothing: %v.\n\t%s", named(p), s.tally.Rate(p), l.why, textfmt.Sentence(l.Story()))
	}
	return b.String()
}

// Seen is one run of a storm, whatever was found in it.
type Seen struct {
	runner.Result
	outcome runResult
	trial   trial
	t       *testing.T // of its storm
}

// Survey tries a lock as [Run] does, and judges it by nothing: each run is handed to see, in
// the subtest of its storm, which goes on with the next seed as long as see says so. There is
// no promise that could fail the test; where there was no proper run it fails all the same.
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

// Beyond says why the plan that was carried out is beyond what a property asks of a lock of
// which nothing is known; nil: it is not, and a lock that violates it there is at fault.
func (s Seen) Beyond(p checker.Property) error {
	done := s.Done()
	return fuzz.ExternalTerms(done, s.outcome.traits.endless).Excuse(p, done)
}

// Rerun runs again, so often, what was done in the run.
func (s Seen) Rerun(times int) (runner.Tally, error) {
	again, err := s.trial.rerun(s.t, s.outcome, times, time.Time{})
	return again.Tally, err
}

// Keep stores the run in a new directory below parent.
// A number is appended to the name if that is taken.
func (s Seen) Keep(parent, name string) (dir string, err error) { return s.outcome.store(parent, name) }
