package cases

import (
	"context"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
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
func New(r storm.Result, p checker.Property) Case {
	s := r.Done()
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
func (c Case) Replay() storm.Replay {
	return storm.Replay{Scenario: c.Scenario.Name, Seed: c.Seed, Trace: c.Trace}
}

// Run makes the run again. The history goes to keep as well, unless that is nil.
func (c Case) Run(ctx context.Context, b storm.Backend, keep history.Sink) (storm.Result, error) {
	return storm.Run(ctx, b, c.Scenario, c.Seed, keep)
}

// Judge says how a run compares with the case: its verdict is what the case shows, or
// another, which is a contradiction, or left open. Whether it is the same run does not
// matter: the program may have changed since, and with it the trace.
func (c Case) Judge(r storm.Result) storm.Conclusion {
	switch v := r.Report.Finding(c.Property).Verdict; {
	case v == c.Shows:
		return storm.AsExpected
	case v == checker.Unknown || r.Interrupted:
		return storm.Undecided
	}
	return storm.Contradiction
}
