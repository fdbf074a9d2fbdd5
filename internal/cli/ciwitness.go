package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/report/sequence"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/trace"
)

// witnesses are the first runs that show why scenarios are not as expected, and the time that
// the runs of each scenario took.
type witnesses struct {
	first map[string]stored // by the scenario's name
	took  map[string]time.Duration
	last  time.Time // that a run was seen

	dir  string          // in which runs are stored; empty: in none
	mine map[string]bool // what is there that stays: what was there before, and what is kept
}

// newWitnesses collects witnesses among the runs that are stored in a directory; "" means none.
func newWitnesses(dir string) (*witnesses, error) {
	w := &witnesses{first: map[string]stored{}, took: map[string]time.Duration{}, last: time.Now(), dir: dir, mine: map[string]bool{}}
	there, err := w.stored()
	for _, name := range there {
		w.mine[name] = true
	}
	return w, err
}

// see records a run. Concurrent runs are seen one after another, so their times add up to the time
// of all of them.
func (w *witnesses) see(r stored) {
	name, now := r.Scenario.Name, time.Now()
	w.took[name] += now.Sub(w.last)
	w.last = now
	was, seen := w.first[name]
	if len(telling(r.Result)) > 0 && (!seen || r.Contradicts() && !was.Contradicts()) {
		w.first[name] = r
	}
}

// keep marks the directory of a run as needed.
func (w *witnesses) keep(r stored) { w.mine[filepath.Base(r.dir)] = true }

// tidy removes the stored runs that are not needed.
func (w *witnesses) tidy() error {
	there, err := w.stored()
	for _, name := range there {
		if !w.mine[name] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(w.dir, name)))
		}
	}
	if w.dir != "" { // they stay if there is something in them
		_ = os.Remove(w.dir)
		_ = os.Remove(filepath.Dir(w.dir))
	}
	return err
}

// stored lists the runs in the directory.
func (w *witnesses) stored() (names []string, err error) {
	if w.dir == "" {
		return nil, nil
	}
	list, err := os.ReadDir(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, one := range list {
		names = append(names, one.Name())
	}
	return names, err
}

// runsDir is the directory for runs that show failures.
func (o *ciOptions) runsDir() string { return filepath.Join(o.out, "runs") }

// keepRun repeats a run exactly and stores it, even if ctx has ended: it is a
// single run that shows a failure of a property. The check gets its files and its diagram.
func (o *ciOptions) keepRun(ctx context.Context, c *ci.Check, e runner.Experiment, again repetition, seed uint64, p checker.Property, problems io.Writer) (err error) {
	done, err := runOptions{seed: seed, runs: 1, out: o.runsDir()}.run(context.WithoutCancel(ctx), e, again, io.Discard, problems)
	if err != nil {
		return err
	}
	c.Files = append(c.Files, done.last.dir)
	c.Diagram, err = drawn(ctx, e, seed, p)
	return err
}

// drawn returns the diagram of a run that shows a failure of a property.
func drawn(ctx context.Context, e runner.Experiment, seed uint64, p checker.Property) (string, error) {
	e, t := trace.Of(e)
	r, err := e.Run(context.WithoutCancel(ctx), seed, nil)
	if err != nil {
		return "", err
	}
	return sequence.Mermaid(t, r.Report.Finding(p)), nil
}

// storyText returns a story as [tell] prints it.
func told(story ...string) string {
	var b strings.Builder
	tell(&b, story...)
	return b.String()
}
