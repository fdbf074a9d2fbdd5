package shards

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Repeat makes the run of a find again, and returns it as the hunt had it. It returns an error if
// the run is not the same, or does not violate what it is said to.
func (f Find) Repeat(ctx context.Context, b runner.Backend) (fuzz.Run, error) {
	run := fuzz.Run{Number: f.Run, Candidate: f.Candidate, Broken: f.Broken}
	var err error
	run.Result, err = f.Candidate.Repeat(ctx, b)
	switch {
	case err != nil:
	case run.Result.Interrupted:
		err = ctx.Err()
	case traceOf(run) != f.Trace:
		err = fmt.Errorf("repeated, it has the trace %s, and not %s", traceOf(run), f.Trace)
	default:
		for _, p := range f.Broken {
			if run.Result.Report.Finding(p).Verdict != checker.Violated {
				err = fmt.Errorf("repeated, it does not violate %s", p)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("run %d: %w", f.Run, err)
	}
	return run, err
}

// Results returns the summary as one hunt has it, with the first run that breaks each property made
// again.
func (s Summary) Results(ctx context.Context, b runner.Backend) (fuzz.Results, error) {
	all := fuzz.Results{Counts: s.Counts, Near: s.Near}
	made := map[int]fuzz.Run{}
	for _, p := range checker.Properties() {
		f, found := s.First(p)
		if !found {
			continue
		}
		run, known := made[f.Run]
		if !known {
			var err error
			if run, err = f.Repeat(ctx, b); err != nil {
				return all, err
			}
			made[f.Run] = run
		}
		if all.First == nil {
			all.First = map[checker.Property]fuzz.Run{}
		}
		all.First[p] = run
	}
	return all, nil
}
