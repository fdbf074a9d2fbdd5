package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
)

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
