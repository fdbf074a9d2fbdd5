package locktest

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/report"
	"github.com/lockstorm/lockstorm/results"
)

// What is stored of a run that failed beside its history: a page about it, and what the test
// has told.
const (
	reportFile  = "report.html"
	failureFile = "failure.txt"
)

// failure stores a run in which something promised was violated, and tells of it.
func (tr trial) failure(t *testing.T, o outcome, j judgement) string {
	first := j.broken[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s is violated, by the lock %s, seed %d", named(first.Property), tr.Name, o.Seed)
	if first.Count > 1 {
		fmt.Fprintf(&b, ", %d times", first.Count)
	}
	fmt.Fprintf(&b, ".\n\n%s\n", words.Sentence(first.Story()))
	for _, f := range j.broken[1:] {
		fmt.Fprintf(&b, "\n%s is violated, too: %s\n", named(f.Property), words.Sentence(f.Story()))
	}
	if hint := unused(o.idle); hint != "" {
		fmt.Fprintf(&b, "\n%s\n", words.Sentence(hint))
	}
	fmt.Fprintf(&b, "\n%s", planText(o.Scenario.Name, o.Plan))
	dir, where := tr.keep(t.Context(), o)
	fmt.Fprintf(&b, "\n%s\n", where)
	if tr.Again > 0 {
		again, err := tr.rerun(t, o, tr.Again, time.Now().Add(rerunning))
		fmt.Fprintf(&b, "\nIt recurs %s.\n", again.of(first.Property))
		if err != nil {
			fmt.Fprintf(&b, "Then there was no proper run: %v\n", err)
		}
	}
	if dir != "" {
		fmt.Fprintf(&b, "\nTo run it again, in the directory of the test:\n\n\t%s\n", witnessing(t.Name(), dir))
		if err := files.WriteWhole(filepath.Join(dir, failureFile), []byte(b.String())); err != nil {
			fmt.Fprintf(&b, "\nThis text could not be stored: %v\n", err)
		}
	}
	return b.String()
}

// indented is a text as a block within another.
func indented(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t") + "\n"
}

// witnessing is the command that runs a stored run of a test again.
func witnessing(test, dir string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("go test -run %s -locktest.witness=%s", words.Quoted(strings.Join(parts, "/")), words.Quoted(dir))
}

// notPlain is what a directory is better not called.
var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// keep stores a run with a page about it, and returns where, if it could be, and what to tell of
// that.
func (tr trial) keep(ctx context.Context, o outcome) (dir, told string) {
	parent := filepath.Join(tr.Dir, notPlain.ReplaceAllString(tr.Name, "-"))
	dir, err := o.store(parent, fmt.Sprintf("%s-%s-%d", o.Scenario.Name, o.Backend, o.Seed))
	if err != nil {
		return "", fmt.Sprintf("The run could not be stored: %v", err)
	}
	told = fmt.Sprintf("Stored in %s: %s, %s, this text", dir, results.RunFile, results.HistoryFile)
	if err := page(ctx, dir); err != nil {
		return dir, fmt.Sprintf("%s; a page about it could not be made: %v", told, err)
	}
	return dir, fmt.Sprintf("%s, and %s for a browser.", told, reportFile)
}

// store stores a run in a new directory below parent.
func (o outcome) store(parent, name string) (dir string, err error) {
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

// page makes the page of a stored run.
func page(ctx context.Context, dir string) error {
	r, err := report.Of(ctx, []string{dir}, report.Options{Most: report.DefaultMost})
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		return err
	}
	return files.WriteWhole(filepath.Join(dir, reportFile), []byte(b.String()))
}
