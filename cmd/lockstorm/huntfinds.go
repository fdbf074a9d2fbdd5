package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/hunt/cases"
	"github.com/lockstorm/lockstorm/hunt/shrink"
	"github.com/lockstorm/lockstorm/hunt/trophy"
	"github.com/lockstorm/lockstorm/internal/words"
)

// find is a trophy, and where it is kept.
type find struct {
	trophy.Trophy
	after time.Duration
	path  string // of its case; empty: none is kept
}

// once hunts once and tells what was found.
func (o *huntOptions) once(cmd *cobra.Command, q quest) error {
	ctx, problems := cmd.Context(), cmd.ErrOrStderr()
	line := newHuntLine(problems, "hunt "+q.Ground.Name())
	h, err := q.run(ctx, line)
	line.done()
	if err != nil {
		return err
	}
	finds, err := o.take(ctx, q, h, problems)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if o.json {
		if err := json.NewEncoder(out).Encode(scoreOf(q, h, finds)); err != nil {
			return err
		}
		return h.ended()
	}
	printHaul(out, q, h)
	for _, f := range finds {
		f.print(out)
	}
	return h.ended()
}

// take shrinks what was found, and keeps it.
func (o *huntOptions) take(ctx context.Context, q quest, h haul, problems io.Writer) ([]find, error) {
	var finds []find
	taker := trophy.Taker{Backend: q.Backend, Terms: q.Terms, Promised: assume.Promised}
	found := h.Found()
	line := newStatusLine(problems)
	defer line.done()
	for i, p := range found {
		taker.Progress = func(r shrink.Result) {
			if _, due := line.due(); due {
				line.print("%s", clip(fmt.Sprintf("shrink %s, %d of %d: %v after %s (Ctrl-C keeps that)", p.Code(), i+1, len(found), trophy.SizeOf(r.Scenario), words.Count(r.Runs, "run")), screen))
			}
		}
		t, err := taker.Take(ctx, p, h.First[p])
		if err != nil {
			return nil, err
		}
		f := find{Trophy: t, after: h.after[p]}
		if o.out != "" {
			if f.path, err = cases.Keep(o.out, cases.New(t.Small, p)); err != nil {
				return nil, err
			}
		}
		finds = append(finds, f)
	}
	return finds, nil
}

// printHaul prints what the hunt amounts to. Where it had a budget it depends on the
// machine in any case, and its times are told; otherwise it is the same each time.
func printHaul(out io.Writer, q quest, h haul) {
	_, _ = fmt.Fprintf(out, "%s: %s (%s)\n", q.Ground.Name(), h.headline(), h.figures(q.budget > 0))
	if h.stopped {
		_, _ = fmt.Fprintln(out, "Stopped before the end: this is what is known.")
	}
	if len(h.First) == 0 {
		return
	}
	_, _ = fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	head := "PROPERTY\t\tVIOLATED IN\tFIRST IN"
	if q.budget > 0 {
		head += "\tAFTER"
	}
	_, _ = fmt.Fprintln(w, head)
	for _, p := range h.Found() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\trun %d", p.Code(), p.Title(), words.Count(h.Violations[p], "run"), h.First[p].Number)
		if q.budget > 0 {
			_, _ = fmt.Fprintf(w, "\t%s", seconds(h.after[p]))
		}
		_, _ = fmt.Fprintln(w)
	}
	_ = w.Flush()
}

func (h haul) headline() string {
	if n := len(h.First); n > 0 {
		return words.Count(n, "property") + " violated"
	}
	return "nothing violated"
}

// figures tells how much was done.
func (h haul) figures(timed bool) string {
	text := fmt.Sprintf("%s, %s, %s", words.Count(h.Runs, "run"), words.Count(h.Grants, "grant"), words.Count(h.Faults, "fault"))
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

func (f find) print(out io.Writer) {
	_, _ = fmt.Fprintf(out, "\n%s violated in run %d: %s\n", f.Property.Title(), f.Found.Number, f.standing())
	_, _ = fmt.Fprintf(out, "shrunk from %v to %v\n", trophy.SizeOf(f.Found.Result.Done()), trophy.SizeOf(f.Small.Done()))
	_, _ = fmt.Fprintf(out, "%s\n", f.Small.Report.Finding(f.Property).Story)
	if f.path != "" {
		_, _ = fmt.Fprintf(out, "lockstorm replay %s   (--trace: step by step; --go: as a Go test)\n", f.path)
	}
}

// standing says what the find means.
func (f find) standing() string {
	if f.Excuse == nil {
		return "a defect, for it was promised"
	}
	return fmt.Sprintf("a limit: %v", f.Excuse)
}

// score is what --json prints of a hunt.
type score struct {
	Hunt          string                   `json:"hunt"`
	Seed          uint64                   `json:"seed"`
	Runs          int                      `json:"runs"`
	Seconds       float64                  `json:"seconds"`
	RunsPerSecond float64                  `json:"runs_per_second"`
	Grants        int                      `json:"grants"`
	Faults        int                      `json:"faults"`
	Contended     int                      `json:"contended"` // runs with a fault within a contended hold
	Stopped       bool                     `json:"stopped"`
	Hunted        []checker.Property       `json:"hunted"`
	Violations    map[checker.Property]int `json:"violations"` // runs
	Finds         []scoredFind             `json:"finds"`
}

// scoredFind is one find in the score.
type scoredFind struct {
	Property checker.Property `json:"property"`
	Defect   bool             `json:"defect"`
	Limit    string           `json:"limit,omitempty"` // the assumption that was left
	Run      int              `json:"run"`
	Seconds  float64          `json:"seconds"`
	Found    trophy.Size      `json:"found"`
	Shrunk   trophy.Size      `json:"shrunk"`
	Story    string           `json:"story"`
	Case     string           `json:"case,omitempty"`
}

func scoreOf(q quest, h haul, finds []find) score {
	s := score{
		Hunt: q.Ground.Name(), Seed: q.Seed, Runs: h.Runs, Seconds: h.took.Seconds(), RunsPerSecond: float64(h.Runs) / h.took.Seconds(),
		Grants: h.Grants, Faults: h.Faults, Contended: h.Contended, Stopped: h.stopped, Hunted: q.hunted(),
		Violations: map[checker.Property]int{}, Finds: []scoredFind{},
	}
	for p, n := range h.Violations {
		s.Violations[p] = n
	}
	for _, f := range finds {
		one := scoredFind{
			Property: f.Property, Defect: f.Excuse == nil, Run: f.Found.Number, Seconds: f.after.Seconds(),
			Found: trophy.SizeOf(f.Found.Result.Done()), Shrunk: trophy.SizeOf(f.Small.Done()),
			Story: f.Small.Report.Finding(f.Property).Story, Case: f.path,
		}
		if f.Excuse != nil {
			one.Limit = f.Excuse.Error()
		}
		s.Finds = append(s.Finds, one)
	}
	return s
}
