package runpage

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// result is the run as a result, without its history.
func (s Shown) result() runner.Result {
	return runner.Result{
		Scenario: s.Run.Scenario.Scenario, Plan: s.Run.Scenario.Plan, Backend: s.Run.Backend, Seed: s.Run.Seed,
		Report: s.Run.Report, SchedulingLag: s.Run.Slip, Interrupted: s.Run.Cut,
	}
}

// Slipped reports whether the machine was too slow for the run, so that none of its verdicts counts.
func (s Shown) Slipped() bool { return s.result().Slipped() }

// Uncounted says in a clause why the verdicts of a run that slipped do not count; "": they do.
func (s Shown) Uncounted() string {
	if !s.Slipped() {
		return ""
	}
	return fmt.Sprintf("the machine was too slow, %v late where %v are allowed", s.Run.Slip.Round(time.Millisecond), s.Run.Scenario.AllowedSlip())
}

// findings are those of the run as they count: of a run that slipped, all are unknown, as in a tally.
func (s Shown) findings() []checker.Finding {
	why := s.Uncounted()
	if why == "" {
		return s.Run.Report.Findings
	}
	all := slices.Clone(s.Run.Report.Findings)
	for i, f := range all {
		all[i] = checker.Finding{Property: f.Property, Verdict: checker.Unknown, Undecided: why}
	}
	return all
}
