package runner_test

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: the verdicts of the debate do not depend on how requests travel. The rows
// themselves use batches, as package redisnode does.
func TestDebateDoesNotDependOnTheTransport(t *testing.T) {
	for _, c := range []nemesis.Connections{{}, {Pipelined: true}} {
		for _, s := range scenarios.All() {
			s.Connections = c
			tally, err := runner.Batch{Experiment: prepared(t, simulator, s), First: 1, Runs: 20}.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if tally.Conclusion() != runner.AsExpected {
				t.Errorf("%s over %+v: expected %v, seen %v", s.Name, c, s.Expect, tally.Seen)
			}
		}
	}
}
