package runner

import (
	"context"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Result is what one run has shown.
type Result struct {
	// Scenario is what was asked for, Plan what was carried out: the scenario's
	// own plan, and behind it what its generator drew.
	Scenario scenarios.Scenario
	Plan     nemesis.Plan
	Backend  string
	Seed     uint64

	// Report is what the judges found in the history.
	Report checker.Report

	// TraceHash is the hash of everything that happened, where a repetition
	// must have the same; otherwise 0.
	TraceHash uint64

	// Slip is by how much things came later than they were due, at most.
	Slip time.Duration

	// Events is how many events the run had, where its world counts them: what
	// [nemesis.Setting.MaxEvents] bounds. 0: it does not.
	Events int

	// Interrupted says that the run was stopped before its end.
	Interrupted bool
}

// Slipped reports whether things came later than the scenario allows. The run then says
// nothing of what is expected, whatever was found in it: the machine was too slow for the
// plan.
func (r Result) Slipped() bool { return r.Slip > 0 && r.Slip > r.Scenario.AllowedSlip() }

// AsExpected reports whether this run alone shows what its scenario expects. One
// that was cut short, or slipped, does not.
func (r Result) AsExpected() bool {
	return !r.Interrupted && !r.Slipped() && r.Report.Cut == "" && !r.matches(scenarios.Contradicted) && !r.matches(scenarios.Open)
}

// Contradicts reports whether this run shows what no further run can mend: a
// violation that was not expected, or, where something was expected to hold or
// to say nothing, a verdict that is neither that nor unknown. One that slipped does not.
func (r Result) Contradicts() bool { return !r.Slipped() && r.matches(scenarios.Contradicted) }

// matches reports whether some finding compares so with what was expected.
func (r Result) matches(m scenarios.Match) bool {
	return slices.ContainsFunc(r.Report.Findings, func(f checker.Finding) bool {
		return r.Scenario.Expect.Judge(f.Property, f.Verdict) == m
	})
}

// Done returns the scenario with the plan that was carried out, and without what
// drew it: it says by itself what was done, and with the seed repeats the run.
func (r Result) Done() scenarios.Scenario {
	s := r.Scenario
	if s.Generate != nil && r.Slip > 0 {
		s.SlipMargin = s.AllowedSlip() // which the faults that were drawn do not change
	}
	s.Plan, s.Generate = r.Plan, nil
	return s
}

// Run prepares a scenario and runs it once: see [Experiment.Run].
func Run(ctx context.Context, b Backend, s scenarios.Scenario, seed uint64, keep history.Sink) (Result, error) {
	e, err := Prepare(b, s)
	if err != nil {
		return Result{}, err
	}
	return e.Run(ctx, seed, keep)
}
