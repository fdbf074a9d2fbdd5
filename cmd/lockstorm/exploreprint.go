package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// exploration is what an exploration has shown, for people and for scripts.
type exploration struct {
	outcome explore.Outcome
	bounds  explore.Bounds
	name    string // of the scenario, as on the command line
	took    time.Duration
}

// command returns the command that repeats a find.
func (x exploration) command(f *explore.Find) string {
	return textfmt.Command("explore", x.name, "--path", f.Path(x.bounds).String())
}

func (x exploration) print(out io.Writer) {
	terminal.Fit(out)
	_, _ = fmt.Fprintf(out, "%s: %s\nbounds: %s\n\n", x.name, x.sentence(), x.within())
	t := textfmt.Table{Head: []string{"PROPERTY", "", "VERDICT"}}
	for _, j := range x.outcome.Judged {
		verdict := string(j.Verdict)
		if j.Unknown > 0 {
			verdict += fmt.Sprintf(" (unknown in %s)", textfmt.Count(j.Unknown, "run"))
		}
		t.Add(j.Property.Code(), j.Property.Title(), verdict)
	}
	t.Text(out, textfmt.Look{})
	for _, j := range x.outcome.Judged {
		if f := j.Find; f != nil {
			_, _ = fmt.Fprintf(out, "\n%s violated in a run of %d events with %s%s:\n", j.Property.Title(), f.Events, textfmt.Count(f.Faults, "fault"), x.shortest())
			tell(out, f.Result.Report.Finding(j.Property).Lines()...)
			_, _ = fmt.Fprintf(out, "again: %s\n", x.command(f))
		}
	}
}

// sentence says what has been found.
func (x exploration) sentence() string {
	o := x.outcome
	made := fmt.Sprintf("%s runs to their end, %s more up to a state seen before, %s states",
		textfmt.Grouped(o.Executions), textfmt.Grouped(o.Cut), textfmt.Grouped(o.States))
	switch {
	case !o.Finished():
		return fmt.Sprintf("%s; not finished, about %.1f %% done (%s)", o.Verdict(), 100*o.Share, made)
	case o.Verdict() == explore.Holds:
		return fmt.Sprintf("holds in all runs (%s)", made)
	}
	return fmt.Sprintf("%s (%s)", o.Verdict(), made)
}

// within describes the bounds.
func (x exploration) within() string {
	b := x.bounds
	parts := []string{
		textfmt.Count(b.Latencies, "latency"),
		fmt.Sprintf("%s of each number beside a random one", textfmt.Count(b.Draws, "value")),
		fmt.Sprintf("at most %s", textfmt.Count(b.Faults, "fault")),
	}
	if b.Deviations >= 0 {
		parts = append(parts, fmt.Sprintf("at most %s", textfmt.Count(b.Deviations, "deviation")))
	}
	if b.Tick > 0 {
		parts = append(parts, "ticks of "+textfmt.Duration(b.Tick))
	}
	return strings.Join(parts, ", ")
}

func (x exploration) shortest() string {
	if x.outcome.Finished() {
		return ", the shortest there is"
	}
	return ""
}

// explorationJSON is what --json prints.
type explorationJSON struct {
	Scenario   string             `json:"scenario"`
	Verdict    explore.Verdict    `json:"verdict"`
	Finished   bool               `json:"finished"`
	Executions int                `json:"executions"`
	Cut        int                `json:"cut"`
	States     int                `json:"states"`
	Share      float64            `json:"share"`
	Seconds    float64            `json:"seconds"`
	Bounds     explore.Bounds     `json:"bounds"`
	Properties []exploredProperty `json:"properties"`
	Find       *explorationFind   `json:"counterexample,omitempty"`
}

type exploredProperty struct {
	Property checker.Property `json:"property"`
	Code     string           `json:"code"`
	Verdict  explore.Verdict  `json:"verdict"`
	Unknown  int              `json:"unknown,omitempty"`
	Find     *explorationFind `json:"counterexample,omitempty"`
}

// explorationFind is a counterexample.
type explorationFind struct {
	Events int    `json:"events"`
	Faults int    `json:"faults"`
	Replay string `json:"replay"` // the path
	Story  string `json:"story"`
}

func (x exploration) json() explorationJSON {
	o := x.outcome
	j := explorationJSON{
		Scenario: x.name, Verdict: o.Verdict(), Finished: o.Finished(), Executions: o.Executions, Cut: o.Cut, States: o.States,
		Share: o.Share, Seconds: x.took.Seconds(), Bounds: x.bounds,
	}
	for _, of := range o.Judged {
		p := exploredProperty{Property: of.Property, Code: of.Property.Code(), Verdict: of.Verdict, Unknown: of.Unknown}
		if f := of.Find; f != nil {
			p.Find = &explorationFind{f.Events, f.Faults, f.Path(x.bounds).String(), f.Result.Report.Finding(of.Property).Story()}
			if f == o.Find() {
				j.Find = p.Find
			}
		}
		j.Properties = append(j.Properties, p)
	}
	return j
}

// ended returns the exit code: whether the verdicts are those that the scenario expects.
func (x exploration) ended(s scenarios.Scenario) error {
	matches := map[scenarios.Match]bool{}
	for _, j := range x.outcome.Judged {
		matches[j.Against(s.Expect)] = true
	}
	switch {
	case matches[scenarios.Contradicted]:
		return verdictError(exitContradiction)
	case matches[scenarios.Open]:
		return verdictError(exitUndecided)
	}
	return nil
}
