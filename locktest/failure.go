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

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/report"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/storm"
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
	fmt.Fprintf(&b, ".\n\n%s\n", words.Sentence(first.Story))
	for _, f := range j.broken[1:] {
		fmt.Fprintf(&b, "\n%s is violated, too: %s\n", named(f.Property), words.Sentence(f.Story))
	}
	if hint := unused(o.traits.idle(o.Scenario.Nodes)); hint != "" {
		fmt.Fprintf(&b, "\n%s\n", words.Sentence(hint))
	}
	dir, err := tr.keep(t.Context(), o)
	fmt.Fprintf(&b, "\n%s", planText(o.Scenario.Name, o.Plan))
	if err != nil {
		fmt.Fprintf(&b, "\nThe run could not be stored: %v\n", err)
	}
	if dir != "" {
		fmt.Fprintf(&b, "\nStored in %s: %s, %s, this text, and %s for a browser.\n", dir, results.RunFile, results.HistoryFile, reportFile)
	}
	if tr.Again > 0 {
		tally, err := tr.rerun(t, o, tr.Again, time.Now().Add(rerunning))
		fmt.Fprintf(&b, "\nIt recurs %s.\n", recurs(tally, first.Property))
		if err != nil {
			fmt.Fprintf(&b, "Then there was no proper run: %v\n", err)
		}
	}
	if dir != "" {
		fmt.Fprintf(&b, "\nTo run it again, in the directory of the test:\n\n\t%s\n", repeat(t.Name(), dir))
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

// repeat is the command that runs a stored run of a test again.
func repeat(test, dir string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("go test -run %s -locktest.witness=%s", words.Quoted(strings.Join(parts, "/")), words.Quoted(dir))
}

// notPlain is what a directory is better not called.
var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// keep stores a run with a page about it, and returns where.
func (tr trial) keep(ctx context.Context, o outcome) (dir string, err error) {
	parent := filepath.Join(tr.Dir, notPlain.ReplaceAllString(tr.Name, "-"))
	if dir, err = o.store(parent, fmt.Sprintf("%s-%s-%d", o.Scenario.Name, o.Backend, o.Seed)); err != nil {
		return dir, err
	}
	return dir, page(ctx, dir)
}

// store stores a run in a new directory below parent.
func (o outcome) store(parent, name string) (dir string, err error) {
	d, err := results.Create(parent, name, o.header)
	if err != nil {
		return "", err
	}
	for i := range o.tape {
		d.History().Record(&o.tape[i])
	}
	return d.Path(), d.Finish(results.RunOf(o.Result, map[string]string{"go": runtime.Version()}))
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

// recurs says in how many runs a property was violated again, of those in which it was
// decided.
func recurs(tally storm.Tally, p checker.Property) string {
	rate := tally.Rate(p)
	text := fmt.Sprintf("in %d of %s", rate.K, words.Count(tally.Runs, "re-run"))
	if rate.N < tally.Runs {
		text += fmt.Sprintf(", of which %d left it open", tally.Runs-rate.N)
	}
	if rate.N > 0 {
		text += fmt.Sprintf(" (95 %% interval: %s %%)", rate.Interval())
	}
	return text
}

// rerunning is how long runs that fail are run again at most, by the real clock.
const rerunning = 15 * time.Second

// rerun runs again, so often, what was done in a run. It stops at the end of its time, and
// where there is no proper run.
func (tr trial) rerun(t *testing.T, o outcome, times int, end time.Time) (storm.Tally, error) {
	done := o.Done()
	tally := storm.NewTally(done)
	for tally.Runs < times && t.Context().Err() == nil && (end.IsZero() || time.Now().Before(end)) {
		again, err := tr.run(t, done, o.Seed)
		if err != nil {
			return tally, fmt.Errorf("after %s: %w", words.Count(tally.Runs, "re-run"), err)
		}
		tally.Add(again.Result)
	}
	return tally, nil
}
