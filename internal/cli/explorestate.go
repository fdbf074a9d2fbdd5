package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/parts"
)

// limits returns the limits of the exploration, with its shard.
func (o exploreOptions) limits() (explore.Limits, error) {
	l := explore.Limits{Executions: o.executions, Workers: o.workers}
	if o.quick {
		l.Events = quickEvents
	}
	if s := o.shard; s.Of > 0 {
		if s.Of > maxShards {
			return l, fmt.Errorf("--shard %s: want at most %d parts", s, maxShards)
		}
		l.Shard, l.Shards = s.I-1, s.Of
	}
	return l, nil
}

const maxShards = explore.MaxShards

// stateFile is the file in which an exploration keeps how far it has come. It is written now and then during the
// work, so that a kill loses little.
type stateFile struct {
	path     string // "": there is none
	problems io.Writer
	release  func() error

	written time.Time     // when it was written last
	took    time.Duration // that
	failed  bool          // the last time
}

// Between two writes there are at least keepEvery and keepShare times what the last one took.
const (
	keepEvery = 10 * time.Second
	keepShare = 50
)

// open locks the file, and adds its state to the limits.
func (f *stateFile) open(l *explore.Limits) (err error) {
	if f.path == "" {
		return nil
	}
	if err := writableFile("--state", f.path); err != nil {
		return err
	}
	lock := f.path + ".lock"
	release, err := files.Occupy(lock, "another exploration")
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	f.release = func() error { return errors.Join(os.Remove(lock), release()) }
	if l.Build, err = buildSum(); err != nil {
		return err
	}
	switch state, err := loadState(f.path); {
	case errors.Is(err, fs.ErrNotExist): // it is begun
		return nil
	case err != nil:
		return fmt.Errorf("--state: %w", err)
	default:
		l.Resume = &state
		return nil
	}
}

// close unlocks the file.
func (f *stateFile) close() {
	if f.release != nil {
		_ = f.release() // the state is written
	}
}

// keep writes the state if it is time to. The error is that of the first write: a later one may go well again.
func (f *stateFile) keep(state func() explore.State) error {
	if f.path == "" || time.Since(f.written) < max(keepEvery, keepShare*f.took) {
		return nil
	}
	first := f.written.IsZero()
	err := f.write(state())
	if err != nil && !first {
		if !f.failed {
			_, _ = fmt.Fprintf(f.problems, "lockstorm: %v; it is tried again\n", err)
		}
		f.failed = true
		return nil
	}
	f.failed = false
	return err
}

// write writes the state.
func (f *stateFile) write(s explore.State) error {
	if f.path == "" {
		return nil
	}
	began := time.Now()
	text, err := parts.Seal(explore.StateFormat, explore.StateVersion, s)
	if err == nil {
		err = files.WriteWhole(f.path, text)
	}
	f.written = time.Now()
	f.took = f.written.Sub(began)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return nil
}

// loadState reads a state. It trusts no more in it than its hash shows: see [explore.State.Validate].
func loadState(path string) (s explore.State, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	err = parts.Unseal(text, explore.StateFormat, explore.StateVersion, &s)
	if err == nil {
		err = s.Validate()
	}
	if err != nil {
		return s, fmt.Errorf("%s: this is no state of an exploration: %w", path, err)
	}
	return s, nil
}

// join prints what the shards in state files show together.
func (o exploreOptions) join(ctx context.Context, w exploredWorld, wanted []checker.Property, out io.Writer) error {
	build, err := buildSum()
	if err != nil {
		return err
	}
	var states []explore.State
	for _, path := range o.merge {
		s, err := loadState(path)
		if err != nil {
			return fmt.Errorf("--merge: %w", err)
		}
		states = append(states, s)
	}
	outcome, bounds, err := explore.Join(ctx, w.scenario, wanted, states, build)
	if err != nil {
		return fmt.Errorf("--merge: %w", err)
	}
	return o.show(exploration{outcome: outcome, bounds: bounds, world: w}, out)
}
