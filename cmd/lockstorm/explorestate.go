package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/explore"
	"github.com/lockstorm/lockstorm/internal/files"
)

// limits returns the limits of the exploration, with its shard and the state to continue from.
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
	if o.state == "" {
		return l, nil
	}
	switch state, err := loadState(o.state); {
	case errors.Is(err, fs.ErrNotExist): // it is begun
		return l, writableFile("--state", o.state)
	case err != nil:
		return l, fmt.Errorf("--state: %w", err)
	default:
		l.Resume = &state
		return l, nil
	}
}

const maxShards = 10_000

func loadState(path string) (s explore.State, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: this is no state of an exploration: %w", path, err)
	}
	return s, nil
}

func saveState(path string, s explore.State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return files.WriteWhole(path, append(text, '\n'))
}

// join prints what the shards in state files show together.
func (o exploreOptions) join(ctx context.Context, w exploredWorld, wanted []checker.Property, out io.Writer) error {
	var states []explore.State
	for _, path := range o.merge {
		s, err := loadState(path)
		if err != nil {
			return fmt.Errorf("--merge: %w", err)
		}
		states = append(states, s)
	}
	outcome, bounds, err := explore.Join(ctx, w.scenario, wanted, states)
	if err != nil {
		return fmt.Errorf("--merge: %w", err)
	}
	return o.show(exploration{outcome: outcome, bounds: bounds, world: w}, out)
}
