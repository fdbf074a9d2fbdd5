package locktest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/gotool"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// A failure fits a screen: go test indents it, and begins it with the place in the test.
const (
	screenWidth   = 106 // of a line
	storyLines    = 6   // of the story of a failure
	noteLines     = 2   // of anything else that is said
	shownLogLines = 5   // of a client library's log
)

// text is the failure as the test shows it: what happened, what that breaks, and the commands. A
// failure that looks like an earlier one is shown in two lines.
func (f *failure) text() string {
	first := f.Broken[0]
	if f.like != "" {
		return joined([]string{f.title(), f.likeText()})
	}
	lines := append([]string{f.title(), ""}, clipped(happened(first), storyLines)...)
	for _, said := range []string{f.brokenText(), f.others(), unused(f.run.idle), f.recurs, f.rerunFailed()} {
		if said != "" {
			lines = append(lines, clipped(textfmt.Sentence(said), noteLines)...)
		}
	}
	return joined(append(append(lines, ""), f.ways()...))
}

func joined(lines []string) string { return strings.Join(lines, "\n") }

// title says which promise is violated.
func (f *failure) title() string {
	first := f.Broken[0]
	title := fmt.Sprintf("%s is violated, by the lock %s, seed %d", external.Named(first.Property), f.Name, f.run.Seed)
	if first.Count > 1 {
		title += fmt.Sprintf(", %d times", first.Count)
	}
	return title + "."
}

// happened tells the first violation of a property, which faults went on, and what is seen instead of
// a broken assumption.
func happened(f checker.Finding) string {
	f.Causes = slices.DeleteFunc(slices.Clone(f.Causes), func(c checker.Cause) bool { return c.Assumption != "" })
	return textfmt.Sentence(f.Story()) + "."
}

// brokenText names the assumption that is broken, with the evidence, or, if none is seen to be, the promise.
func (f *failure) brokenText() string {
	var texts []string
	for _, c := range f.Broken[0].Causes {
		if c.Assumption != "" {
			texts = append(texts, fmt.Sprintf("%s (%s)", c.Assumption.Text(), c.Shown()))
		}
	}
	if len(texts) > 0 {
		return "Broken assumption: " + strings.Join(texts, "; ") + "."
	}
	return "Broken promise: " + promises[f.Broken[0].Property] + "."
}

// others names the other promises that the run violates.
func (f *failure) others() string {
	var names []string
	for _, b := range f.Broken[1:] {
		names = append(names, external.Named(b.Property))
	}
	if len(names) == 0 {
		return ""
	}
	return "Violated, too: " + textfmt.List(names) + "."
}

// rerunFailed is the first line about a re-run that failed itself, or "".
func (f *failure) rerunFailed() string {
	if f.rerunErr == nil {
		return ""
	}
	first, _, _ := strings.Cut(f.rerunErr.Error(), "\n")
	return "Then a run failed: " + first
}

// likeText refers to the earlier storm that failed in the same way.
func (f *failure) likeText() string {
	as := fmt.Sprintf("As in storm %s; ", f.like)
	switch {
	case f.dir == "":
		return as + fmt.Sprintf("the run could not be stored: %v", f.storeErr)
	case f.storeErr != nil:
		return as + fmt.Sprintf("stored only in part in %s: %v", f.dir, f.storeErr)
	}
	return as + "stored in " + f.dir
}

// ways are the commands that lead further, and where the run is stored.
func (f *failure) ways() []string {
	if f.dir == "" {
		return []string{fmt.Sprintf("The run could not be stored: %v", f.storeErr)}
	}
	list := []string{
		"Again:  " + reproCommand(f.t.Name(), f.dir),
		"Page:   " + textfmt.Command("report", f.dir),
		fmt.Sprintf("Stored: %s, with story and plan in %s", f.dir, failureFile),
	}
	if f.storeErr != nil {
		list = append(list, fmt.Sprintf("Not all of it could be stored: %v", f.storeErr))
	}
	return list
}

// fullText is all that is known of the failure.
func (f *failure) fullText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", f.title(), textfmt.Sentence(f.Broken[0].Story()))
	fmt.Fprintf(&b, "\n%s promises: %s.\n", f.Broken[0].Property.Code(), promises[f.Broken[0].Property])
	for _, more := range f.Broken[1:] {
		fmt.Fprintf(&b, "\n%s is violated, too: %s\n", external.Named(more.Property), textfmt.Sentence(more.Story()))
	}
	if hint := unused(f.run.idle); hint != "" {
		fmt.Fprintf(&b, "\n%s\n", textfmt.Sentence(hint))
	}
	fmt.Fprintf(&b, "\n%s", planText(f.run.Scenario.Name, f.run.Plan))
	if f.shrinking != "" {
		fmt.Fprintf(&b, "\n%s\n", f.shrinking)
	}
	if f.generated != "" {
		fmt.Fprintf(&b, "The run of the whole plan is stored in %s.\n", f.generated)
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
	fmt.Fprintf(&b, "\nTo make a page about it for a browser, with the lockstorm command:\n\n\t%s\n", textfmt.Command("report", f.dir))
	fmt.Fprintf(&b, "\nBeside this file: %s and %s, the run", results.RunFile, results.HistoryFile)
	if len(f.run.clientLog) > 0 {
		fmt.Fprintf(&b, "; %s, what client libraries have logged", clientLogFile)
	}
	return b.String() + ".\n"
}

// clipped breaks a text into lines for a screen, at most so many.
func clipped(text string, most int) []string {
	lines := textfmt.Lines(text, screenWidth)
	if len(lines) > most {
		lines = append(lines[:most-1], lines[most-1]+" …")
	}
	return lines
}

// lastLines returns the last lines of a text.
func lastLines(text []byte, most int) string {
	lines := slices.Collect(bytes.Lines(text))
	return string(bytes.Join(lines[max(0, len(lines)-most):], nil))
}

// indented indents a text as a block.
func indented(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t") + "\n"
}

// reproCommand returns the command that runs a stored run of a test again. Without -v go test would not
// show that nothing recurs.
func reproCommand(test, dir string) string {
	return fmt.Sprintf("go test -v -run %s -locktest.witness=%s", textfmt.Quoted(gotool.Only(test)), textfmt.Quoted(dir))
}
