package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// testPrinter prints the runs of a lock as they are decided.
type testPrinter struct {
	*lockTest
	out, problems io.Writer
	bar           *terminal.Bar

	storm   stormResult   // the one whose runs are being added
	failed  []testFailure // of each storm that violated a promise
	defects external.Defects
	kept    firsts
	barren  bool      // in some storm without faults nobody was granted the lock
	open    bool      // some storm is undecided
	notRun  []string  // storms for which there was no time
	doubts  []seedsOf // runs that decided nothing, of storms that are undecided
	all     external.Summary
	idle    []int // nodes that no client has connected to in any run
	whole   int   // runs that came to their end
	runs    int
	done    int       // storms that are concluded
	ended   time.Time // when the last run has ended
}

// stormResult is the runs of a storm.
type stormResult struct {
	external.Outcome
	number  int
	unbegun int        // runs
	doubts  []uint64   // seeds of runs that left a promise undecided
	broken  *testedRun // the first run that violated a promise
	stopped bool       // before all runs were made
	began   time.Time
}

func newTestPrinter(t *lockTest, out, problems io.Writer) *testPrinter {
	total := 0
	for _, s := range t.storms {
		total += len(s.seeds)
	}
	p := &testPrinter{
		lockTest: t, out: out, problems: problems, defects: external.Defects{}, kept: newFirsts(true),
		bar: terminal.NewBar(problems, t.config.Name, int64(total), terminal.Pieces), ended: time.Now(),
	}
	terminal.Fit(out)
	if t.format == asJSON {
		return p
	}
	p.printf("%s: %s, %s, TTL %v, %s in %s, about %s%s\n", t.config.Name, textfmt.Count(t.config.Nodes, "node"), textfmt.Count(t.config.Clients, "client"), t.config.TTL, textfmt.Count(total, "run"), textfmt.Count(len(t.storms), "storm"), about(t.estimated()), t.tooLong())
	if len(t.refused) > 0 {
		p.printf("left out: %s\n", strings.Join(t.refused, "; "))
	}
	p.printf("\n")
	return p
}

func (p *testPrinter) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

// unused adds the nodes that no client has connected to in a run. A run that was interrupted says only
// which nodes are used.
func (p *testPrinter) unused(r testedRun) {
	if p.runs == 1 {
		p.idle = r.unused
	}
	p.idle = slices.DeleteFunc(slices.Clone(p.idle), func(n int) bool { return !slices.Contains(r.unused, n) })
	if !r.Interrupted {
		p.whole++
	}
}

// add adds a run. Runs of a storm come one after another.
func (p *testPrinter) add(r testedRun) {
	p.bar.Step()
	s := &p.storm
	if s.Runs+s.unbegun == 0 || s.number != r.storm {
		*s = stormResult{number: r.storm, began: p.ended}
	}
	if r.unbegun {
		if s.unbegun++; r.storm >= p.done && s.Runs+s.unbegun == len(p.storms[r.storm].seeds) {
			p.conclude(s)
		}
		return
	}
	p.runs++
	p.unused(r)
	p.kept.see(&r.stored, s.broken == nil && len(r.Broken) > 0)
	if p.format == asJSON {
		_ = json.NewEncoder(p.out).Encode(testLine(r)) // the output keeps the error
	}
	if r.storm < p.done { // it was stopped
		return
	}
	s.Add(r.Result, r.Judgment, r.did)
	if len(r.Open) > 0 {
		s.doubts = append(s.doubts, r.Seed)
	}
	s.stopped, p.ended = r.Interrupted, time.Now()
	if s.broken == nil && len(r.Broken) > 0 {
		s.broken = &r
	}
	if s.Runs+s.unbegun == len(p.storms[r.storm].seeds) || r.Interrupted {
		p.conclude(s)
	}
}

// conclude prints the line of a storm all of whose runs are made, but those for which there was no time.
func (p *testPrinter) conclude(s *stormResult) {
	p.done = s.number + 1
	if s.Runs == 0 {
		p.skip(p.storms[s.number].scenario.Name)
		return
	}
	if s.unbegun > 0 {
		p.open, p.notRun = true, append(p.notRun, fmt.Sprintf("%s of %s", textfmt.Count(s.unbegun, "run"), s.Scenario.Name))
	}
	verdict, why := runner.AsExpected, s.NothingJudged()
	if undecided, open := s.Undecided(); open {
		why = fmt.Sprintf("%s: %s", external.Named(undecided.Property), textfmt.Sentence(undecided.Story()))
	}
	nothing := s.NothingDone()
	switch {
	case s.broken != nil:
		verdict = runner.Contradiction
		p.fail(*s.broken)
	case nothing != "":
		p.barren, verdict, why = true, runner.Contradiction, nothing
	case why != "":
		p.open, verdict = true, runner.Undecided
	case s.stopped:
		p.open, verdict, why = true, runner.Undecided, "stopped before the end"
	}
	if verdict == runner.Undecided && !s.stopped {
		if len(s.doubts) == 0 { // nothing was granted, or judged
			s.doubts = p.storms[s.number].seeds[:s.Runs]
		}
		p.doubts = append(p.doubts, seedsOf{s.Scenario.Name, s.doubts})
	}
	p.all.Add(&s.Outcome, p.config.Patience, verdict == runner.Undecided)
	if p.format == asJSON {
		p.json(p.storms[s.number].scenario.Name, verdict, textfmt.Sentence(why), s)
		return
	}
	on := terminal.On(p.out)
	word := map[runner.Conclusion]string{runner.AsExpected: "ok", runner.Contradiction: "VIOLATED", runner.Undecided: "undecided"}[verdict]
	if nothing != "" && s.broken == nil {
		word = "FAILED"
	}
	p.printf("%s  %-22s %s\n", colored(on, verdict, fmt.Sprintf("%-9s", word)), s.Scenario.Name, s.line())
	if verdict != runner.AsExpected && s.broken == nil {
		p.printf("           %s\n", textfmt.Sentence(why))
	}
	for _, limit := range s.LimitTexts() {
		p.printf("           limit: %s.\n", limit)
	}
}

// skip notes a storm for which there was no time.
func (p *testPrinter) skip(storm string) {
	p.open, p.notRun = true, append(p.notRun, storm)
	if p.format == asJSON {
		_ = json.NewEncoder(p.out).Encode(external.Record{Storm: storm, Verdict: external.NotRun, Reason: p.noTime()})
	}
}

// noTime is why a run was not begun.
func (t *lockTest) noTime() string {
	return fmt.Sprintf("there was no time for it in the budget of %s: raise --budget", textfmt.Duration(t.budget))
}

// about prints a time that is no more than an estimate.
func about(d time.Duration) string { return textfmt.Whole(max(d.Round(5*time.Second), 5*time.Second)) }

// tooLong says that the budget is too small for all runs, if it is expected to be.
func (t *lockTest) tooLong() string {
	if all := t.estimated(); t.budget > 0 && all > t.budget {
		enough := (all*5/4 + time.Minute).Truncate(time.Minute) // a run begins only if it fits in
		return fmt.Sprintf(", more than the budget of %s: not all storms will run; --budget %s runs all", textfmt.Whole(t.budget), textfmt.Whole(enough))
	}
	return ""
}

// line returns the grants and the verdicts of a storm in one line.
func (s *stormResult) line() string {
	return fmt.Sprintf("%-10s %s", textfmt.Count(s.Grants, "grant"), strings.Join(s.Verdicts(checker.Properties()), ", "))
}

// finish prints the violations and how to go on from them.
func (p *testPrinter) finish(interrupted bool) {
	p.bar.Done()
	if interrupted {
		p.open = true
	}
	if p.format == asJSON {
		for _, left := range p.storms[p.done:] {
			_ = json.NewEncoder(p.out).Encode(external.Record{Storm: left.scenario.Name, Verdict: external.NotRun})
		}
		if p.all.Runs() > 0 {
			_ = json.NewEncoder(p.out).Encode(external.Record{Summary: p.all.String()})
		}
		return
	}
	for _, f := range p.failed {
		f.print(p.out)
	}
	if len(p.idle) > 0 && p.whole > 0 {
		p.printf("\nNo client has connected to nodes %v: is --nodes right? The lock is judged as one that needs a majority of the nodes.\n", p.idle)
	}
	if interrupted {
		p.printf("\nStopped before the end: the other runs are not made.\n")
	}
	if len(p.notRun) > 0 {
		p.printf("\nNot run, for lack of time in the budget of %s: %s.\n  Now:   %s\n", textfmt.Duration(p.budget), strings.Join(p.notRun, ", "), p.runOf(p.notRun))
	}
	for _, d := range p.doubts {
		p.printf("\nUndecided in %s, %s.\n  Again: %s\n", d.storm, seeds(d.seeds), p.rerun(d))
	}
	if p.all.Runs() > 0 {
		broken := ""
		if p.conclusion() == runner.AsExpected {
			broken = "No promise is broken: "
		}
		p.printf("\n%s%v\n", broken, &p.all)
	}
}

// repeat returns the command that runs a stored run again.
func (p *testPrinter) repeat(r testedRun) string { return p.command("--again", r.dir) }

// rerun returns the command that makes the first undecided run of a storm again, alone.
func (p *testPrinter) rerun(d seedsOf) string {
	alone := []string{"--parallel", "1"}
	if p.again == "" {
		alone = slices.Concat([]string{"--seed", fmt.Sprint(d.seeds[0])}, alone)
	}
	return p.runOf([]string{d.storm}, alone...)
}

// runOf returns the command that makes the runs of some storms.
func (p *testPrinter) runOf(storms []string, more ...string) string {
	if p.again != "" {
		return p.command(slices.Concat([]string{"--again", p.again}, more)...)
	}
	if slices.ContainsFunc(p.testOptions.storms, func(given string) bool { return strings.HasSuffix(given, ".yaml") }) {
		storms = p.testOptions.storms // a storm of a file is found there only
	}
	sized := []string{"--nodes", fmt.Sprint(p.config.Nodes), "--ttl", textfmt.Whole(p.config.TTL), "--storm", strings.Join(storms, ",")}
	return p.command(slices.Concat(sized, more)...)
}

// command returns a command that tests the same program.
func (p *testPrinter) command(flags ...string) string {
	return textfmt.Command(slices.Concat([]string{"test"}, flags, p.given, []string{"--"}, p.Command)...)
}

// seeds prints the seeds of some runs.
func seeds(list []uint64) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = fmt.Sprint(s)
	}
	if len(names) == 1 {
		return "seed " + names[0]
	}
	return "seeds " + textfmt.List(names)
}

func (p *testPrinter) conclusion() runner.Conclusion {
	switch {
	case len(p.failed) > 0 || p.barren:
		return runner.Contradiction
	case p.open:
		return runner.Undecided
	}
	return runner.AsExpected
}

// json prints the object of a storm. What the programs have violated is told in full once.
func (p *testPrinter) json(storm string, verdict runner.Conclusion, why string, s *stormResult) {
	l := external.Record{Storm: storm, Verdict: verdict.String(), Reason: why, Took: p.ended.Sub(s.began)}
	if s.broken != nil {
		f := p.failed[len(p.failed)-1]
		l.Reason, l.Seed, l.Dir, l.Again = f.reason(), f.Seed, f.dir, f.again
		if f.like == "" {
			l.Story = strings.Join(f.Brief(), "\n")
		}
	}
	_ = json.NewEncoder(p.out).Encode(l)
}

// testJSON is what test prints of a run in JSON.
type testJSON struct {
	jsonLine
	Broken []checker.Property          `json:"broken"`    // promised and violated
	Open   []checker.Property          `json:"undecided"` // promised and unknown
	Limits map[checker.Property]string `json:"limits"`    // violated and not promised, with the reason
	Why    map[checker.Property]string `json:"stories"`   // of what was violated
}

func testLine(r testedRun) testJSON {
	l := testJSON{jsonLine: line(r.stored), Broken: []checker.Property{}, Open: []checker.Property{}, Limits: map[checker.Property]string{}, Why: map[checker.Property]string{}}
	for _, f := range r.Broken {
		l.Broken = append(l.Broken, f.Property)
		l.Why[f.Property] = f.Story()
	}
	for _, f := range r.Open {
		l.Open = append(l.Open, f.Property)
	}
	for _, f := range r.Limits {
		l.Limits[f.Property] = f.Why
		l.Why[f.Property] = f.Story()
	}
	return l
}

// testFailure is the first run of a storm that violated a promise.
type testFailure struct {
	testedRun
	like  string // the earlier storm that failed in the same way; "": none
	again string // the command that runs it again
}

// fail adds the failure of a storm, and writes all that is known of it beside its run.
func (p *testPrinter) fail(r testedRun) {
	f := testFailure{testedRun: r, again: p.repeat(r)}
	news, like := p.defects.Add(r.Scenario.Name, r.Broken)
	if f.like = like; like == "" {
		f.Judgment = r.StartingWith(news)
	}
	p.failed = append(p.failed, f)
	if err := files.WriteWhole(filepath.Join(r.dir, external.FailureFile), []byte(f.fullText())); err != nil {
		complain(p.problems, err)
	}
}

func (f testFailure) title() string {
	return f.Title(fmt.Sprintf(" in %s, seed %d", f.Scenario.Name, f.Seed))
}

// reason is the failure in a line, without a full stop.
func (f testFailure) reason() string { return f.InShort(f.title(), f.like) }

func (f testFailure) page() string { return textfmt.Command("report", f.dir) }

// print prints the failure so that it fits a screen. One that looks like an earlier one has two lines.
func (f testFailure) print(out io.Writer) {
	if f.like != "" {
		_, _ = fmt.Fprintf(out, "%s.\n", f.reason())
		tell(out, "Stored in "+f.dir)
		return
	}
	_, _ = fmt.Fprintf(out, "\n%s\n%s\n", strings.Join(textfmt.Lines(f.Reason()+".", external.ScreenWidth), "\n"), f.title())
	tell(out, f.Brief()...)
	tell(out, external.KnownCauses)
	// No line of a command may be broken.
	_, _ = fmt.Fprintf(out, "  Again:  %s\n  Page:   %s\n  Stored: %s, with story and plan in %s\n", f.again, f.page(), f.dir, external.FailureFile)
}

// fullText is all that is known of the failure.
func (f testFailure) fullText() string {
	text := fmt.Sprintf("%s\n\n%s\n%s", f.title(), f.Story(), external.PlanText(f.Scenario.Name, f.Plan))
	if f.like != "" {
		text += fmt.Sprintf("\nThe storm %s failed in the same way.\n", f.like)
	}
	text += fmt.Sprintf("\n%s\n", external.KnownCauses)
	return text + fmt.Sprintf("\nTo run it again, where the command was started:\n\n\t%s\n\nTo make a page about it for a browser, in the directory of this file:\n\n\t%s\n", f.again, textfmt.Command("report", "."))
}
