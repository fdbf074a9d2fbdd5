package locktest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/gotool"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// shownLogLines is how many lines of a client library's log are shown.
const shownLogLines = 5

// text is the failure as the test shows it: what happened, what that breaks, and the commands. A
// failure that looks like an earlier one is shown in two lines.
func (f *failure) text() string {
	if f.like != "" {
		return joined([]string{f.reason() + ".", f.storedText()})
	}
	return joined([]string{f.head(), "", f.story(), "", joined(f.ways())})
}

// head is why the test fails, in the words of a user, which property that is, and in which storm.
func (f *failure) head() string {
	lines := append(textfmt.Lines(f.Reason()+".", external.ScreenWidth), f.title())
	if s := f.run.Scenario.Summary; s != "" {
		lines = append(lines, textfmt.Lines(fmt.Sprintf("Storm %s: %s.", f.run.Scenario.Name, s), external.ScreenWidth)...)
	}
	return joined(lines)
}

// story is the failure without its title and the commands. One that looks like an earlier one has none.
func (f *failure) story() string {
	if f.like != "" {
		return ""
	}
	return joined(append(f.Brief(unused(f.run.idle), f.recurs, f.rerunFailed()), external.KnownCauses))
}

// reason is the failure in a line.
func (f *failure) reason() string { return f.InShort(f.title(), f.like) }

func joined(lines []string) string { return strings.Join(lines, "\n") }

func (f *failure) title() string {
	return f.Title(fmt.Sprintf(", by the lock %s, seed %d", f.Name, f.run.Seed))
}

// rerunFailed is the first line about a re-run that failed itself, or "".
func (f *failure) rerunFailed() string {
	if f.rerunErr == nil {
		return ""
	}
	return "Then a run failed: " + firstLine(f.rerunErr.Error())
}

// storedText says where the run of a failure that looks like an earlier one is stored.
func (f *failure) storedText() string {
	switch {
	case f.dir == "":
		return fmt.Sprintf("The run could not be stored: %v", f.storeErr)
	case f.storeErr != nil:
		return fmt.Sprintf("Stored only in part in %s: %v", f.dir, f.storeErr)
	}
	return "Stored in " + f.dir
}

// ways are the commands that lead further, and where the run is stored.
func (f *failure) ways() []string {
	if f.dir == "" {
		return []string{fmt.Sprintf("The run could not be stored: %v", f.storeErr)}
	}
	list := []string{
		"Again:  " + reproCommand(f.t.Name(), f.dir),
		"Page:   " + textfmt.Command("report", f.dir),
		fmt.Sprintf("Stored: %s, with story and plan in %s", f.dir, external.FailureFile),
	}
	if f.storeErr != nil {
		list = append(list, fmt.Sprintf("Not all of it could be stored: %v", f.storeErr))
	}
	return list
}

// fullText is all that is known of the failure.
func (f *failure) fullText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s", f.head(), f.Story())
	if hint := unused(f.run.idle); hint != "" {
		fmt.Fprintf(&b, "\n%s\n", textfmt.Sentence(hint))
	}
	fmt.Fprintf(&b, "\n%s", external.PlanText(f.run.Scenario.Name, f.run.Plan))
	if f.shrinking != "" {
		fmt.Fprintf(&b, "\n%s\n", f.shrinking)
	}
	if f.generated != "" {
		fmt.Fprintf(&b, "The run of the whole plan is stored in ../%s.\n", filepath.Base(f.generated))
	}
	switch {
	case f.like != "":
		fmt.Fprintf(&b, "\nThe storm %s failed in the same way, so that this run was neither run again nor shrunk.\n", f.like)
	case f.recurs != "":
		fmt.Fprintf(&b, "\n%s\n", f.recurs)
	case f.Again > 0:
		fmt.Fprint(&b, "\nThe test ended before the run was run again.\n")
	}
	if f.rerunErr != nil {
		fmt.Fprintf(&b, "Then a run failed: %v\n", f.rerunErr)
	}
	fmt.Fprintf(&b, "\nTo run it again, in the directory of the test:\n\n\t%s\n", reproCommand(f.t.Name(), f.dir))
	fmt.Fprintf(&b, "\nTo make a page about it for a browser, in the directory of this file, with the lockstorm command:\n\n\t%s\n", textfmt.Command("report", "."))
	fmt.Fprintf(&b, "\n%s\n", external.KnownCauses)
	fmt.Fprintf(&b, "\nBeside this file: %s and %s, the run", results.RunFile, results.HistoryFile)
	if len(f.run.clientLog) > 0 {
		fmt.Fprintf(&b, "; %s, what client libraries have logged", clientLogFile)
	}
	return b.String() + ".\n"
}

// lastLines returns the last lines of a text.
func lastLines(text []byte, most int) string {
	lines := slices.Collect(bytes.Lines(text))
	return string(bytes.Join(lines[max(0, len(lines)-most):], nil))
}

// reproCommand returns the command that runs a stored run of a test again. Without -v go test would not
// show that nothing recurs.
func reproCommand(test, dir string) string {
	return fmt.Sprintf("go test -v -run %s -locktest.witness=%s", textfmt.Quoted(gotool.Only(test)), textfmt.Quoted(dir))
}
