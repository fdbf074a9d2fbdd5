package cli

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/search/explore"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// exploredWorld is a scenario to explore.
type exploredWorld struct {
	name     string // as on the command line
	scenario scenarios.Scenario
	part     scenarios.Part // of the named one that it is
}

// exploration is what an exploration has shown, for people and for scripts.
type exploration struct {
	outcome explore.Outcome
	bounds  explore.Bounds
	world   exploredWorld
	took    time.Duration
	quick   bool     // what the runs with fewer deviations show is enough
	given   []string // see [exploreOptions]
}

// command returns the command that repeats a find.
func (x exploration) command(f *explore.Find) string {
	words := []string{"replay", x.replay(f)}
	if isFile(x.world.name) {
		words = append(words, "--scenario", x.world.name)
	}
	return textfmt.Command(words...)
}

// replay returns the replay string of a find.
func (x exploration) replay(f *explore.Find) string { return f.Replay(x.world.part).String() }

func (x exploration) print(out io.Writer) {
	terminal.Fit(out)
	_, _ = fmt.Fprintf(out, "%s: %s\nworld: %s\nbounds: %s\n\n", x.world.name, x.sentence(), x.size(), x.within())
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
			printDeviations(out, f.Result.Deviations)
			_, _ = fmt.Fprintf(out, "again: %s\n", x.command(f))
		}
	}
}

// printDeviations says in what a run deviates from the first way at each point.
func printDeviations(out io.Writer, all []string) {
	if len(all) > 0 {
		_, _ = fmt.Fprintf(out, "deviations: %s\n", strings.Join(all, "; "))
	}
}

// sentence says what has been found.
func (x exploration) sentence() string {
	o := x.outcome
	made := fmt.Sprintf("%s runs to their end, %s more up to a state seen before, %s states",
		textfmt.Grouped(o.Executions), textfmt.Grouped(o.Cut), textfmt.Grouped(o.States))
	if o.Overlapping > 0 {
		made += fmt.Sprintf("; %s left out, in which faults overlap", textfmt.Grouped(o.Overlapping))
	}
	switch {
	case !o.Complete:
		text := fmt.Sprintf("%s; not finished, %s (%s)", o.Verdict(), doneOf(o), made)
		if o.Deviations >= 0 {
			text += fmt.Sprintf("; every run with up to %s was made: %s", textfmt.Count(o.Deviations, "deviation"), o.Within())
		}
		return text
	case o.Verdict() == explore.Holds:
		return fmt.Sprintf("holds in all runs (%s)", made)
	}
	return fmt.Sprintf("%s (%s)", o.Verdict(), made)
}

// doneOf says how many of the runs with one deviation more were made.
func doneOf(o explore.Outcome) string {
	text := fmt.Sprintf("about %.2g %% of the runs with %s done", 100*o.Share, textfmt.Count(o.Deviations+1, "deviation"))
	if left := o.Left(); left > 0 {
		unit := int(math.Pow10(max(0, len(fmt.Sprint(left))-2)))
		text += fmt.Sprintf(", about %s left", textfmt.Grouped((left+unit/2)/unit*unit))
	}
	return text
}

// size describes the world.
func (x exploration) size() string {
	s := x.world.scenario
	var rounds []string
	different := map[int]bool{}
	for _, c := range s.Clients {
		rounds, different[c.Rounds] = append(rounds, fmt.Sprint(c.Rounds)), true
	}
	who := textfmt.Count(s.Nodes, "node") + ", " + textfmt.Count(len(s.Clients), "client")
	if len(different) == 1 {
		return fmt.Sprintf("%s, %s each", who, textfmt.Count(s.Clients[0].Rounds, "round"))
	}
	return fmt.Sprintf("%s with %s rounds", who, textfmt.List(rounds))
}

// within describes the bounds.
func (x exploration) within() string {
	b := x.bounds
	parts := []string{
		textfmt.Count(b.Latencies, "latency"),
		fmt.Sprintf("%s of each number beside a random one", textfmt.Count(b.Draws, "value")),
		fmt.Sprintf("at most %s", textfmt.Count(b.Faults, "fault")),
	}
	if b.Added > 0 {
		kinds := names(b.Kinds, func(k nemesis.Kind) string { return string(k) })
		parts[2] += fmt.Sprintf(" of the plan and %d of the %s %s", b.Added, textfmt.Plural(len(kinds), "kind"), textfmt.List(kinds))
	}
	if b.Deviations >= 0 {
		parts = append(parts, fmt.Sprintf("at most %s", textfmt.Count(b.Deviations, "deviation")))
	}
	if b.Tick > 0 {
		parts = append(parts, "ticks of "+textfmt.Duration(b.Tick))
	}
	return strings.Join(append(parts, explore.FixedIn(x.world.scenario)...), ", ")
}

func (x exploration) shortest() string {
	if x.outcome.Complete {
		return ", the shortest within the bounds"
	}
	return ""
}

// explorationJSON is what --format json prints.
type explorationJSON struct {
	Scenario   string             `json:"scenario"`
	Verdict    explore.Verdict    `json:"verdict"`
	Finished   bool               `json:"finished"`
	Executions int                `json:"executions"`
	Cut        int                `json:"cut"`
	Overlap    int                `json:"overlapping"` // runs that were left out, in which faults overlap
	States     int                `json:"states"`
	Share      float64            `json:"share"`
	Left       int                `json:"left"`            // runs that were not made, an estimate
	Deviations int                `json:"deviations_done"` // every run with so many was made; -1: not even those without
	Seconds    float64            `json:"seconds"`
	Bounds     explore.Bounds     `json:"bounds"`
	Fixed      []string           `json:"fixed"` // what is the same in all runs, though not in those of the scenario
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
	Replay string `json:"replay"` // for lockstorm replay
	Story  string `json:"story"`

	Deviations []string `json:"deviations,omitempty"`
}

func (x exploration) json() explorationJSON {
	o := x.outcome
	j := explorationJSON{
		Scenario: x.world.name, Verdict: o.Verdict(), Finished: o.Complete, Executions: o.Executions, Cut: o.Cut, Overlap: o.Overlapping, States: o.States,
		Share: o.Share, Left: o.Left(), Deviations: o.Deviations, Seconds: x.took.Seconds(), Bounds: x.bounds,
		Fixed: explore.FixedIn(x.world.scenario),
	}
	for _, of := range o.Judged {
		p := exploredProperty{Property: of.Property, Code: of.Property.Code(), Verdict: of.Verdict, Unknown: of.Unknown}
		if f := of.Find; f != nil {
			p.Find = &explorationFind{f.Events, f.Faults, x.replay(f), f.Result.Report.Finding(of.Property).Story(), f.Result.Deviations}
			if f == o.Find() {
				j.Find = p.Find
			}
		}
		j.Properties = append(j.Properties, p)
	}
	return j
}

// against compares what has been shown of a property with what the scenario expects.
func (x exploration) against(j explore.Judged) scenarios.Match {
	if x.quick && j.Verdict == explore.Unfinished {
		j.Verdict = j.Within
	}
	return j.Against(x.world.scenario.Expect)
}

// exploredExit returns the exit code: whether the verdicts are those that the scenarios expect.
func exploredExit(all ...exploration) error {
	matches := map[scenarios.Match]bool{}
	for _, x := range all {
		for _, j := range x.outcome.Judged {
			matches[x.against(j)] = true
		}
	}
	switch {
	case matches[scenarios.Contradicted]:
		return verdictError(exitContradiction)
	case matches[scenarios.Open]:
		return verdictError(exitUndecided)
	}
	return nil
}

// explorationsJSON is what --format json prints of several scenarios.
type explorationsJSON struct {
	Explorations []explorationJSON `json:"explorations"`
}

// printExplorations prints a line for each scenario, and what is not as expected.
func printExplorations(out io.Writer, all []exploration) {
	terminal.Fit(out)
	t := textfmt.Table{Head: []string{"scenario", "nodes", "clients", "faults", "verdict", "violated (events, faults)", "deviations", "runs", "states"}}
	runs, asExpected := 0, 0
	var differ []string
	for _, x := range all {
		o, s := x.outcome, x.world.scenario
		t.Add(x.world.name, fmt.Sprint(s.Nodes), fmt.Sprint(len(s.Clients)), fmt.Sprint(x.bounds.Faults), string(o.Within()), o.Violations(), x.deviations(),
			textfmt.Grouped(o.Executions+o.Cut), textfmt.Grouped(o.States))
		runs += o.Executions + o.Cut
		if differs := x.differs(); len(differs) == 0 {
			asExpected++
		} else {
			differ = append(differ, differs...)
		}
	}
	printTable(out, &t)
	_, _ = fmt.Fprintf(out, "\n%d of %s as expected (%s runs)\n", asExpected, textfmt.Count(len(all), "scenario"), textfmt.Grouped(runs))
	for _, d := range differ {
		_, _ = fmt.Fprintln(out, d)
	}
}

// deviations says of how many deviations every run was made.
func (x exploration) deviations() string {
	switch o := x.outcome; {
	case o.Complete && x.bounds.Deviations < 0:
		return "all"
	case o.Deviations < 0:
		return "-"
	default:
		return fmt.Sprint(o.Deviations)
	}
}

// differs says which verdicts are not as expected, and how to see why.
func (x exploration) differs() (lines []string) {
	again, open := textfmt.Command(append([]string{"explore", x.world.name}, x.given...)...), false
	for _, j := range x.outcome.Judged {
		match := x.against(j)
		open = open || match == scenarios.Open
		if match != scenarios.Contradicted {
			continue
		}
		see := again
		if j.Find != nil {
			see = x.command(j.Find)
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s, which is not expected; see %s", x.world.name, j.Property.Title(), j.Verdict, see))
	}
	if open {
		lines = append(lines, fmt.Sprintf("%s: not finished; see %s", x.world.name, again))
	}
	return lines
}
