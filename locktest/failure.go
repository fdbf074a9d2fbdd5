package locktest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
)

// clientLogFile is the file of a stored run with what client libraries have logged.
const clientLogFile = "client.log"

// failure is a run that violated a promised property, and what became known of it afterwards.
type failure struct {
	trial
	t   *testing.T
	run runResult
	external.Judgment

	dir      string // where the run is stored; "": it is not, because of storeErr
	storeErr error

	like      string // the earlier storm that failed in the same way; "": none
	generated string // where the run before shrinking is stored; "": there is none
	shrinking string // what shrinking has shown; "": there was none
	recurs    string // how often it recurs; "": not known
	rerunErr  error
}

// failure stores a run that violated a promised property, examines it unless an earlier storm failed
// in the same way. What is known is stored before anything that takes time.
func (tr trial) failure(t *testing.T, o runResult, j external.Judgment) *failure {
	f := &failure{trial: tr, t: t, run: o, Judgment: j}
	if news, like := tr.defects.Add(o.Scenario.Name, j.Broken); like != "" {
		f.like = like
	} else {
		f.Judgment = j.StartingWith(news)
	}
	f.store("")
	if f.like == "" {
		f.shrink()
		f.rerun()
		f.write()
	}
	return f
}

// store stores the run and what is known of it. suffix is added to its name.
func (f *failure) store(suffix string) {
	name := fmt.Sprintf("%s-%s-%d%s", f.run.Scenario.Name, f.run.Backend, f.run.Seed, suffix)
	f.dir, f.storeErr = f.run.store(filepath.Join(f.Dir, unsafeChars.ReplaceAllString(f.Name, "-")), name, f.Stored())
	f.write()
}

// write stores what is known of the failure.
func (f *failure) write() {
	if f.dir == "" {
		return
	}
	if err := files.WriteWhole(filepath.Join(f.dir, external.FailureFile), []byte(f.fullText())); err != nil {
		f.storeErr = err
	}
}

// shrink replaces the run by one of a smaller plan that fails in the same way.
func (f *failure) shrink() {
	first := f.Broken[0]
	smaller, text := f.shrunk(f.t, f.run, first, f.budget.share()*2/3)
	if f.shrinking = text; len(smaller.Plan) >= len(f.run.Plan) {
		return
	}
	f.generated = f.dir
	f.run, f.Judgment = smaller, smaller.judge(f.Config).StartingWith(first.Property)
	f.store("-shrunk")
}

// rerun runs the run again to tell how often it fails.
func (f *failure) rerun() {
	if f.Again <= 0 {
		return
	}
	again, err := f.trial.rerun(f.t, f.run, f.Again, f.budget.reruns(f.budget.share()))
	f.recurs, f.rerunErr = "It recurs "+again.of(f.Broken[0].Property), err
	switch {
	case again.Runs > 0 && again.Rate(f.Broken[0].Property).K == 0:
		f.recurs += "; it is rare or depends on timing: -locktest.reruns=100 with the command below measures it"
	case err == nil && again.Runs < f.Again:
		f.recurs += "; a longer -locktest.budget allows more"
	}
	f.recurs += "."
}

// unsafeChars matches characters that are replaced in names of directories.
var unsafeChars = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// store stores a run in a new directory below parent, with what it shows of the promises, which may be nil.
func (o runResult) store(parent, name string, judged *runner.Judged) (dir string, err error) {
	d, err := results.Create(parent, name, o.header)
	if err != nil {
		return "", err
	}
	for i := range o.history {
		d.History().Record(&o.history[i])
	}
	run := results.RunOf(o.Result, map[string]string{"go": runtime.Version()})
	run.Judged = judged
	if err := d.Finish(run); err != nil {
		return "", err
	}
	if len(o.clientLog) > 0 {
		err = os.WriteFile(filepath.Join(d.Path(), clientLogFile), o.clientLog, 0o644)
	}
	return d.Path(), err
}
