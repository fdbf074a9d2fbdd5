package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

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

func (f testFailure) page() string { return textfmt.Command("report", f.dir) }

// print prints the failure so that it fits a screen. One that looks like an earlier one has two lines.
func (f testFailure) print(out io.Writer) {
	_, _ = fmt.Fprintf(out, "\n%s\n", f.title())
	if f.like != "" {
		tell(out, fmt.Sprintf("As in storm %s; stored in %s", f.like, f.dir))
		return
	}
	tell(out, f.Brief()...)
	// No line of a command may be broken.
	_, _ = fmt.Fprintf(out, "  Again:  %s\n  Page:   %s\n  Stored: %s, with story and plan in %s\n", f.again, f.page(), f.dir, external.FailureFile)
}

// fullText is all that is known of the failure.
func (f testFailure) fullText() string {
	text := fmt.Sprintf("%s\n\n%s\n%s", f.title(), f.Story(), external.PlanText(f.Scenario.Name, f.Plan))
	if f.like != "" {
		text += fmt.Sprintf("\nThe storm %s failed in the same way.\n", f.like)
	}
	return text + fmt.Sprintf("\nTo run it again, where the command was started:\n\n\t%s\n\nTo make a page about it for a browser, in the directory of this file:\n\n\t%s\n", f.again, textfmt.Command("report", "."))
}
