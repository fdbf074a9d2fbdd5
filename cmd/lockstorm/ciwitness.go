package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
)

// witnesses are the first runs that tell why scenarios are not as expected, and how long
// the runs of each have taken.
type witnesses struct {
	first map[string]stored // by the scenario's name
	took  map[string]time.Duration
	last  time.Time // that a run was seen

	dir  string          // in which runs are stored; empty: in none
	mine map[string]bool // what is there that stays: what was there before, and what is kept
}

// newWitnesses looks for witnesses among runs that are stored in a directory, unless it has
// no name.
func newWitnesses(dir string) (*witnesses, error) {
	w := &witnesses{first: map[string]stored{}, took: map[string]time.Duration{}, last: time.Now(), dir: dir, mine: map[string]bool{}}
	there, err := w.stored()
	for _, name := range there {
		w.mine[name] = true
	}
	return w, err
}

// see takes in a run. Runs that go side by side are seen one after the other: together they
// take as long as all of them.
func (w *witnesses) see(r stored) {
	name, now := r.Scenario.Name, time.Now()
	w.took[name] += now.Sub(w.last)
	w.last = now
	was, seen := w.first[name]
	if len(telling(r.Result)) > 0 && (!seen || r.Contradicts() && !was.Contradicts()) {
		w.first[name] = r
	}
}

// keep says that the directory of a run stays.
func (w *witnesses) keep(r stored) { w.mine[filepath.Base(r.dir)] = true }

// tidy removes the runs that were stored and tell nothing.
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

// runsDir is where the runs are kept that tell of failures.
func (o *ciOptions) runsDir() string { return filepath.Join(o.out, "runs") }

// keepRun makes a run again, which is exact, and keeps it with its pictures, also when ctx
// has ended: it is one run, and what was found is worth it.
func (o *ciOptions) keepRun(ctx context.Context, e runner.Experiment, again repetition, seed uint64, problems io.Writer) ([]string, error) {
	done, err := runOptions{seed: seed, runs: 1, out: o.runsDir()}.run(context.WithoutCancel(ctx), e, again, io.Discard, problems)
	if err != nil {
		return nil, err
	}
	return evidence(done.last.dir, done.drawn), nil
}

// evidence lists the directory of a run and its pictures.
func evidence(dir string, pictures []results.Drawn) []string {
	list := []string{dir}
	for _, d := range pictures {
		list = append(list, d.Path)
	}
	return list
}

// told is a story as [tell] prints it.
func told(story ...string) string {
	var b strings.Builder
	tell(&b, story...)
	return b.String()
}
