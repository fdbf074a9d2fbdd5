package cli

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
	name    string // of the scenario, of its file, or of the run that is repeated
	backend runner.Backend
	flags   []string // that were given and change the run, besides seed and generated faults
	stormy  bool     // the flags asked for the generator that the scenario has
	inTable bool     // the scenario is one of the table, as a replay string wants it
	inFile  bool     // it is that of the file
	known   bool     // the user has just named the run

	part scenarios.Part // of the scenario that is run
}

// replay returns the replay string of a run, or "" if it has none: the scenario is that of a stored run
// or a sweep, flags have changed it, the backend does not repeat runs, or the run was stopped.
func (a repetition) replay(r runner.Result) string {
	if !a.inTable && !a.inFile || !a.backend.Exact || r.Interrupted {
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
		words := []string{"replay", text}
		if a.inFile {
			words = append(words, "--scenario", a.name)
		}
		return textfmt.Command(words...)
	}
	if a.backend.Exact && r.dir != "" && !r.Interrupted {
		return textfmt.Command("replay", r.dir)
	}
	words := append([]string{"run", a.name}, a.flags...)
	if g := r.Scenario.Generate; a.stormy && g != nil { // with all kinds, which a later program has more of
		words = append(words, "--faults", g.Faults.String(), "--most", fmt.Sprint(g.Most))
	}
	return textfmt.Command(append(words, "--seed", fmt.Sprint(r.Seed))...)
}

// failures lists runs that violated something, with the commands that repeat them: all those with
// generated faults, because each has its own plan, and otherwise the first of each property.
type failures struct {
	again repetition
	seen  map[checker.Property]bool
	list  textfmt.Table
	more  int
}

// mostFailures is the largest number of listed runs.
const mostFailures = 20

func (f *failures) add(r stored) {
	if f.again.known || r.Slipped() {
		return
	}
	var violated []string
	first := false
	for _, finding := range r.Report.Findings {
		if p := finding.Property; finding.Verdict == checker.Violated {
			violated = append(violated, p.Code())
			first = first || !f.seen[p]
			f.seen[p] = true
		}
	}
	switch {
	case len(violated) == 0 || r.Scenario.Generate == nil && !first:
	case len(f.list.Lines) == mostFailures:
		f.more++
	default:
		f.list.Add(fmt.Sprint(r.Seed), strings.Join(violated, " "), f.again.command(r))
	}
}

// furtherOfReplay names what else a replay shows of a violation.
const furtherOfReplay = "replay --trace: step by step; replay --inevitable: from when on the violation could not be avoided."

func (f *failures) print(out io.Writer) {
	if len(f.list.Lines) == 0 {
		return
	}
	f.list.Head = []string{"seed", "violated", "again"}
	_, _ = fmt.Fprintln(out)
	printTable(out, &f.list)
	if strings.HasPrefix(f.list.Lines[0][2], textfmt.Command("replay")) {
		_, _ = fmt.Fprintln(out, furtherOfReplay)
	}
	if f.more > 0 {
		_, _ = fmt.Fprintf(out, "and %d more; --format json lists all runs\n", f.more)
	}
}
