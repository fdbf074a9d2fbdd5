package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/search/explore"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/internal/search/shrink"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results/cases"
)

// find is a shrunk finding and the path of its case.
type find struct {
	shrink.Finding
	after time.Duration
	path  string // of its case; empty: none is kept
	cut   bool   // whoever started the hunt has stopped it before it was shrunk to the end
}

// take shrinks and stores the finds. If the hunt itself was stopped, shrinking goes on: the finds
// are worth the seconds. An error loses no find: one that could not be stored has no path.
func (o *huntOptions) take(ctx context.Context, q search, h haul, problems io.Writer) ([]find, error) {
	if h.stopped {
		ctx = patient(ctx)
	}
	var finds []find
	var failed error // the first
	shrinking, found := o.shrinking(q), h.Found()
	line := terminal.NewBar(problems, "shrink", int64(len(found)), terminal.Steps)
	defer line.Done()
	for i, p := range found {
		taker := shrinking.share(len(found) - i)
		taker.Progress = func(r shrink.Reduced) {
			if line.Due() {
				line.Say(": %s, %v after %s (Ctrl-C keeps that)", p.Code(), shrink.ExtentOf(r.Scenario), textfmt.Count(r.Runs, "run"))
			}
		}
		t, err := taker.Minimize(ctx, p, h.First[p])
		if err != nil {
			return finds, err
		}
		f := find{Finding: t, after: h.after[p], cut: ctx.Err() != nil}
		if o.out != "" {
			if f.path, err = cases.Save(o.out, cases.New(t.Small, p)); err != nil {
				failed = cmp.Or(failed, fmt.Errorf("--out: store the case of %s: %w", p.Title(), err))
			}
		}
		finds = append(finds, f)
		line.Step()
	}
	return finds, failed
}

// printHaul prints the result of the hunt. A hunt with a budget depends on the machine, so its
// times are printed; the output of any other hunt is the same each time.
func (o *huntOptions) printHaul(out io.Writer, q search, h haul) {
	_, _ = fmt.Fprintf(out, "%s: %s (%s)\n", q.Space.Name(), h.coloured(terminal.On(out)), h.figures(q.budget > 0))
	if h.stopped {
		_, _ = fmt.Fprintln(out, stoppedLine)
	}
	if h.Runs > 0 && (o.assumed != "" || h.silent(q)) {
		_, _ = fmt.Fprintln(out, h.tests(q))
	}
	if len(h.First) == 0 {
		return
	}
	_, _ = fmt.Fprintln(out)
	t := &textfmt.Table{Head: []string{"property", "", "violated in", "first in"}}
	if q.budget > 0 {
		t.Head = append(t.Head, "after")
	}
	for _, p := range h.Found() {
		cells := []string{p.Code(), p.Title(), textfmt.Count(h.Violations[p], "run"), fmt.Sprintf("run %d", h.First[p].Number)}
		if q.budget > 0 {
			cells = append(cells, seconds(h.after[p]))
		}
		t.Add(cells...)
	}
	printTable(out, t)
}

func (h haul) coloured(on terminal.Screen) string {
	switch {
	case len(h.First) > 0:
		return on.Bad(h.headline())
	case h.Runs == 0:
		return on.Strong(h.headline())
	}
	return on.Good(h.headline())
}

func (h haul) headline() string {
	switch n := len(h.First); {
	case n > 0:
		return textfmt.Count(n, "property") + " violated"
	case h.Runs == 0:
		return "undecided"
	}
	return "nothing violated"
}

// tests says what finding nothing means: the number of runs that could have shown a violation of
// each property.
func (h haul) tests(q search) string {
	var some, none []string
	for _, p := range q.hunted() {
		if n := h.Tested[p]; n > 0 {
			some = append(some, fmt.Sprintf("%s %d", p.Code(), n))
		} else {
			none = append(none, p.Code())
		}
	}
	text := "Runs that exercised each property within the assumptions: " + cmp.Or(strings.Join(some, ", "), "none")
	if len(none) > 0 {
		text += fmt.Sprintf("; not exercised: %s", strings.Join(none, " "))
	}
	return text + "."
}

// figures prints the amount of work.
func (h haul) figures(timed bool) string {
	text := fmt.Sprintf("%s, %s, %s", textfmt.Count(h.Runs, "run"), textfmt.Count(h.Grants, "grant"), textfmt.Count(h.Faults, "fault"))
	if h.Runs > 0 {
		text += fmt.Sprintf("; a fault within a contended hold in %.0f %% of the runs", 100*float64(h.Contended)/float64(h.Runs))
	}
	if timed {
		text += fmt.Sprintf("; %s, %.0f runs/s", seconds(h.took), float64(h.Runs)/h.took.Seconds())
	}
	return text
}

// seconds prints a time for people who wait.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func (f find) print(out io.Writer, assumed string) {
	_, _ = fmt.Fprintf(out, "\n%s %s in run %d: %s\n", f.Property.Title(), terminal.On(out).Bad("violated"), f.Found.Number, f.standing(assumed))
	_, _ = fmt.Fprintf(out, "%s\n", f.shrunk())
	tell(out, f.finding().Lines()...)
	if f.path != "" {
		_, _ = fmt.Fprintf(out, "%s   (--trace: step by step; --go: as a Go test)\n", textfmt.Command("replay", f.path))
	}
}

// finding is what is told of the shrunk run.
func (f find) finding() checker.Finding {
	return promises.As(promises.StandingOf(f.Excuse), f.Small.Report.Finding(f.Property))
}

// standing says what the find means in a hunt under assumptions.
func (f find) standing(assumed string) string {
	if f.Excuse != nil && assumed != "" {
		return fmt.Sprintf("inside %s, but still %s", assumed, promises.StandingOf(f.Excuse))
	}
	return promises.StandingOf(f.Excuse)
}

// shrunk returns the size of the find before and after shrinking.
func (f find) shrunk() string {
	found, small := shrink.ExtentOf(f.Found.Result.Executed()), shrink.ExtentOf(f.Small.Executed())
	switch {
	case !f.cut && f.Shrunk.Unfinished != "":
		return fmt.Sprintf("shrunk from %v to %v; not fully shrunk: %s", found, small, f.Shrunk.Unfinished)
	case f.cut && found == small:
		return fmt.Sprintf("not shrunk, because the hunt was stopped: %v", found)
	case f.cut:
		return fmt.Sprintf("shrunk from %v to %v, not fully, because the hunt was stopped", found, small)
	case found == small:
		return fmt.Sprintf("%v: cannot be shrunk", found)
	}
	return fmt.Sprintf("shrunk from %v to %v", found, small)
}

// printAdvice explains finds that are limits, and how to hunt only for defects.
func printAdvice(out io.Writer, assumed string, finds []find) {
	defects := 0
	for _, f := range finds {
		if f.Excuse == nil {
			defects++
		}
	}
	if limits := len(finds) - defects; limits > 0 && assumed == "" {
		_, _ = fmt.Fprintf(out, "\n%s, %s: the lock does not promise to withstand this. To hunt only defects: --assume %s\n",
			textfmt.Count(defects, "defect"), textfmt.Count(limits, "limit"), promisedWord)
	}
}

// haulScore is what --format json prints of a hunt.
type haulScore struct {
	Ground string             `json:"ground"`
	Hunted []checker.Property `json:"hunted"`
	Seed   uint64             `json:"seed"`
	hunt.Counts
	Seconds float64      `json:"seconds"`
	Finds   []scoredFind `json:"finds"`
	Stopped bool         `json:"stopped"`
}

// scoredFind is one find in the score.
type scoredFind struct {
	hunt.Find                // its story is that of the shrunk run
	Defect     bool          `json:"defect"`
	Limit      string        `json:"limit,omitempty"` // the assumption that was left
	Found      shrink.Extent `json:"found"`
	Shrunk     shrink.Extent `json:"shrunk"`
	Unfinished string        `json:"unfinished,omitempty"` // why it could be smaller still
	Case       string        `json:"case,omitempty"`
}

func scoreOf(q search, h haul, finds []find) haulScore {
	s := haulScore{
		Ground: q.Space.Name(), Hunted: q.hunted(), Seed: q.Seed, Counts: h.Counts, Seconds: h.took.Seconds(),
		Finds: []scoredFind{}, Stopped: h.stopped,
	}
	for _, f := range finds {
		one := scoredFind{
			Find: hunt.Find{
				Property: f.Property, Run: f.Found.Number, Seconds: f.after.Seconds(),
				Story: f.finding().Story(),
			},
			Defect: f.Excuse == nil, Found: shrink.ExtentOf(f.Found.Result.Executed()), Shrunk: shrink.ExtentOf(f.Small.Executed()), Unfinished: f.Shrunk.Unfinished, Case: f.path,
		}
		if f.Excuse != nil {
			one.Limit = f.Excuse.Error()
		}
		s.Finds = append(s.Finds, one)
	}
	return s
}

// shrinkShare is the part of a hunt's budget that the shrinking of its finds may take on top. A hunt
// without a budget is the same whenever it is repeated, so its shrinking is limited by the number of
// events, and not by time.
const shrinkShare = 4

// shrinking gives out the time for shrinking.
type shrinking struct {
	taker shrink.Minimizer
	end   time.Time // when it is used up; zero: never
}

func (o *huntOptions) shrinking(q search) shrinking {
	s := shrinking{taker: shrink.Minimizer{Backend: q.Backend, Terms: q.Terms, Promised: promises.Of}}
	if q.Backend.Drivable {
		s.taker.Shortest = explore.ShortestRun
	}
	if o.budget > 0 {
		s.end = time.Now().Add(o.budget / shrinkShare)
	}
	return s
}

// share returns the minimizer for the next of so many finds, with an equal share of the remaining
// time.
func (s shrinking) share(finds int) shrink.Minimizer {
	t := s.taker
	if !s.end.IsZero() {
		t.Time = max(time.Until(s.end)/time.Duration(finds), time.Nanosecond)
	}
	return t
}
