package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// repetition returns the commands that repeat a run.
type repetition struct {
	name    string // of the scenario, or of its file
	backend runner.Backend
	world   string // the flags with which that was chosen, if it is not the default
	stormy  bool   // the flags asked for the generator that the scenario has
	inTable bool   // the scenario is one of the table, as a replay string wants it

	part scenarios.Part // of the scenario that is run
}

// replay returns the replay string of a run with generated faults, or "" if it has none: the
// scenario is in a file or a sweep, the backend does not repeat runs, or the run was stopped.
func (a repetition) replay(r runner.Result) string {
	if !a.stormy && r.Course.Straight() || !a.inTable || !a.backend.Exact || r.Interrupted {
		return ""
	}
	text := r.Replay()
	text.Part = a.part
	return text.String()
}

// command returns the command line that repeats a run. On a backend that does
// not repeat runs it repeats the plan.
func (a repetition) command(r stored) string {
	if text := a.replay(r.Result); text != "" {
		return textfmt.Command("replay", text)
	}
	if a.backend.Exact && r.dir != "" && !r.Interrupted {
		return textfmt.Command("replay", r.dir)
	}
	command := textfmt.Command("run", a.name) + a.world
	if g := r.Scenario.Generate; a.stormy && g != nil {
		command += fmt.Sprintf(" --faults %s --most %d", g.Faults, g.Most)
	}
	return command + fmt.Sprintf(" --seed %d", r.Seed)
}

// failures lists the runs with generated faults that violated something, with their replay strings,
// because each has its own plan.
type failures struct {
	again repetition
	list  textfmt.Table
	more  int
}

// mostFailures is the largest number of listed runs.
const mostFailures = 20

func (f *failures) add(r stored) {
	var violated []string
	for _, finding := range r.Report.Findings {
		if finding.Verdict == checker.Violated {
			violated = append(violated, finding.Property.Code())
		}
	}
	switch {
	case r.Scenario.Generate == nil || len(violated) == 0 || r.Slipped():
	case len(f.list.Lines) == mostFailures:
		f.more++
	default:
		f.list.Add(fmt.Sprint(r.Seed), strings.Join(violated, " "), f.again.command(r))
	}
}

func (f *failures) print(out io.Writer) {
	if len(f.list.Lines) == 0 {
		return
	}
	f.list.Head = []string{"seed", "violated", "again"}
	_, _ = fmt.Fprintln(out)
	printTable(out, &f.list)
	if f.more > 0 {
		_, _ = fmt.Fprintf(out, "and %d more; --json lists all runs\n", f.more)
	}
}
