package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
)

// writableDir returns an error if files cannot be written to the directory that a flag names, so
// that this is known before hours of work. A directory that does not exist yet is made with the
// first file; its nearest parent is checked.
func writableDir(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if err := holds(dir); err != nil {
		return fmt.Errorf("%s %s: %w", flag, dir, err)
	}
	return nil
}

// writableFile is writableDir for a file, which may exist.
func writableFile(flag, path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		err = errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("exists and is not a regular file")
	default:
		err = holds(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return nil
}

// room is how much is written to a directory to see whether it holds what a command writes. A full disk
// still has empty files.
const room = 64 << 10

func holds(dir string) error {
	at := filepath.Clean(dir)
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at); _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".lockstorm-*")
	if err != nil {
		return bare(err)
	}
	return errors.Join(fill(f), os.Remove(f.Name()))
}

func fill(f *os.File) error {
	_, err := f.Write(make([]byte, room))
	return bare(cmp.Or(err, f.Close()))
}

// bare returns an error without its path.
func bare(err error) error {
	if why := new(fs.PathError); errors.As(err, &why) {
		return why.Err
	}
	return err
}

// checkFree returns an error if files in the directory would be overwritten.
func checkFree(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out %s: %w", dir, bare(err))
	case len(entries) > 0:
		return fmt.Errorf("--out %s: not empty; nothing is overwritten", dir)
	}
	return nil
}

// stored is a result and the directory that it was stored in; "": it was not, or is no more.
type stored struct {
	runner.Result
	dir string
}

// batch is a [runner.Batch] whose runs are stored, if out is not empty.
type batch struct {
	experiment runner.Experiment
	first      uint64
	runs       int
	parallel   int // runs at a time; 0: as suits the backend
	out        string
	each       func(stored)
}

func (b batch) run(ctx context.Context) (runner.Tally, error) {
	batch, err := b.prepare()
	if err != nil {
		return runner.Tally{}, err
	}
	return batch.Run(ctx)
}

// prepare makes the [runner.Batch].
func (b batch) prepare() (runner.Batch, error) {
	var dirs sync.Map // by seed
	batch := runner.Batch{Experiment: b.experiment, First: b.first, Runs: b.runs, SideBySide: b.parallel}
	if b.out != "" {
		keeper, err := results.NewKeeper(b.out, b.experiment, versions(b.experiment.Backend()))
		if err != nil {
			return batch, err
		}
		batch.One = func(ctx context.Context, seed uint64) (runner.Result, error) {
			r, dir, err := keeper.Run(ctx, seed)
			dirs.Store(seed, dir)
			return r, err
		}
	}
	batch.Each = func(r runner.Result) {
		dir, _ := dirs.LoadAndDelete(r.Seed)
		path, _ := dir.(string)
		b.each(stored{r, path})
	}
	return batch, nil
}

// keptRuns says which runs [firsts] keeps.
const keptRuns = "The first run is kept, and the first that violates each property or leaves it open."

// firsts keeps, of the runs of each scenario, the first stored one that violates a property or leaves it open,
// and removes the others: a thousand runs take hundreds of megabytes.
type firsts struct {
	always bool              // the first run of each scenario is kept, too
	kept   map[runKey]string // directories
	seen   map[firstKey]bool
}

func newFirsts(always bool) firsts {
	return firsts{always: always, kept: map[runKey]string{}, seen: map[firstKey]bool{}}
}

type runKey struct {
	scenario string
	seed     uint64
}

type firstKey struct {
	scenario string
	property checker.Property
	verdict  checker.Verdict // the zero value: that of any run
}

// see decides about a run, whose directory is removed unless it is kept; keep: it is.
func (f firsts) see(r *stored, keep bool) {
	if r.dir == "" {
		return
	}
	first := func(p checker.Property, v checker.Verdict) bool {
		key := firstKey{r.Scenario.Name, p, v}
		before := f.seen[key]
		f.seen[key] = true
		return !before
	}
	if f.always && first("", 0) {
		keep = true
	}
	for _, found := range r.Report.Findings {
		if v := found.Verdict; (v == checker.Violated || v == checker.Unknown) && first(found.Property, v) {
			keep = true
		}
	}
	if keep {
		f.kept[runKey{r.Scenario.Name, r.Seed}] = r.dir
		return
	}
	_ = os.RemoveAll(r.dir)
	r.dir = ""
}

func (f firsts) dir(scenario, _ string, seed uint64) string { return f.kept[runKey{scenario, seed}] }
