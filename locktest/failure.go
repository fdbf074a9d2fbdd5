package locktest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
)

// failureFile is the file beside the stored run with the output of the test.
const failureFile = "failure.txt"

// failure stores a run that violated a promised property and returns the text of the
// failure.
func (tr trial) failure(t *testing.T, o runResult, j judgment) string {
	shorter, shrinking := tr.shrunk(t, o, j.broken[0])
	if shrinking != "" {
		o, j = shorter, shorter.judge(tr.Config).startingWith(j.broken[0].Property)
	}
	first := j.broken[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s is violated, by the lock %s, seed %d", named(first.Property), tr.Name, o.Seed)
	if first.Count > 1 {
		fmt.Fprintf(&b, ", %d times", first.Count)
	}
	fmt.Fprintf(&b, ".\n\n%s\n", textfmt.Sentence(first.Story()))
	for _, f := range j.broken[1:] {
		fmt.Fprintf(&b, "\n%s is violated, too: %s\n", named(f.Property), textfmt.Sentence(f.Story()))
	}
	if hint := unused(o.idle); hint != "" {
		fmt.Fprintf(&b, "\n%s\n", textfmt.Sentence(hint))
	}
	fmt.Fprintf(&b, "\n%s", planText(o.Scenario.Name, o.Plan))
	if shrinking != "" {
		fmt.Fprintf(&b, "\n%s\n", shrinking)
	}
	dir, err := o.store(filepath.Join(tr.Dir, unsafeChars.ReplaceAllString(tr.Name, "-")), fmt.Sprintf("%s-%s-%d", o.Scenario.Name, o.Backend, o.Seed))
	if err != nil {
		fmt.Fprintf(&b, "\nThe run could not be stored: %v\n", err)
	} else {
		fmt.Fprintf(&b, "\nStored in %s: %s, %s, this text. To make a page about it for a browser, with the lockstorm command:\n\n\tlockstorm report %s\n", dir, results.RunFile, results.HistoryFile, textfmt.Quoted(dir))
	}
	if tr.Again > 0 {
		again, err := tr.rerun(t, o, tr.Again, time.Now().Add(rerunTime))
		fmt.Fprintf(&b, "\nIt recurs %s.\n", again.of(first.Property))
		if err != nil {
			fmt.Fprintf(&b, "Then a run failed: %v\n", err)
		}
	}
	if dir != "" {
		fmt.Fprintf(&b, "\nTo run it again, in the directory of the test:\n\n\t%s\n", reproCommand(t.Name(), dir))
		if err := files.WriteWhole(filepath.Join(dir, failureFile), []byte(b.String())); err != nil {
			fmt.Fprintf(&b, "\nThis text could not be stored: %v\n", err)
		}
	}
	return b.String()
}

// indented indents a text as a block.
func indented(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t") + "\n"
}

// reproCommand returns the command that runs a stored run of a test again.
func reproCommand(test, dir string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("go test -run %s -locktest.witness=%s", textfmt.Quoted(strings.Join(parts, "/")), textfmt.Quoted(dir))
}

// unsafeChars matches characters that are replaced in names of directories.
var unsafeChars = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// store stores a run in a new directory below parent.
func (o runResult) store(parent, name string) (dir string, err error) {
	d, err := results.Create(parent, name, o.header)
	if err != nil {
		return "", err
	}
	for i := range o.history {
		d.History().Record(&o.history[i])
	}
	if err := d.Finish(results.RunOf(o.Result, map[string]string{"go": runtime.Version()})); err != nil {
		return "", err
	}
	return d.Path(), nil
}
