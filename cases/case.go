package cases

import (
	"context"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Case is one run that is kept, and what it shows of one property.
type Case struct {
	Property checker.Property

	// Shows is the verdict on the property: violated or holds.
	Shows checker.Verdict

	// Story is what the judge told when the case was made.
	Story string

	// Notes are what a person, or the command that found it, has to say of it. Empty:
	// nothing.
	Notes string

	Seed uint64

	// Trace is the upper half of the run's trace hash.
	Trace uint32

	// Scenario has a plan and nothing that draws faults, and expects nothing: what is
	// expected is the verdict that the case shows.
	Scenario scenarios.Scenario
}

// New makes a case of what a run has shown of a property.
func New(r runner.Result, p checker.Property) Case {
	s := r.Executed()
	s.Claims, s.Expect = scenarios.Claims{}, nil
	f := r.Report.Finding(p)
	return Case{
		Property: p,
		Shows:    f.Verdict,
		Story:    f.Story(),
		Seed:     r.Seed,
		Trace:    r.Replay().Trace,
		Scenario: s,
	}
}

// Replay returns what identifies the run. Its scenario is that of the case, and not
// the one of that name in the table.
func (c Case) Replay() runner.Replay {
	return runner.Replay{Scenario: c.Scenario.Name, Seed: c.Seed, Trace: c.Trace}
}

// Run makes the run again. The history goes to keep as well, unless that is nil.
func (c Case) Run(ctx context.Context, b runner.Backend, keep history.Sink) (runner.Result, error) {
	return runner.Run(ctx, b, c.Scenario, c.Seed, keep)
}

// Simulate runs the case in the simulator, and returns what the checker reports.
func (c Case) Simulate(ctx context.Context) (checker.Report, error) {
	r, err := c.Run(ctx, simulated.Backend(), nil)
	return r.Report, err
}

// Judge says how a run compares with the case: its verdict is what the case shows, or
// another, which is a contradiction, or left open. Whether it is the same run does not
// matter: the program may have changed since, and with it the trace.
func (c Case) Judge(r runner.Result) runner.Conclusion {
	switch v := r.Report.Finding(c.Property).Verdict; {
	case v == c.Shows:
		return runner.AsExpected
	case v == checker.Unknown || r.Interrupted:
		return runner.Undecided
	}
	return runner.Contradiction
}
