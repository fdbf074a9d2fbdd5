package runpage

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// result is the run as a result, without its history.
func (s Shown) result() runner.Result {
	return runner.Result{
		Scenario: s.Run.Scenario.Scenario, Plan: s.Run.Scenario.World().Plan, Backend: s.Run.Backend, Seed: s.Run.Seed,
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
	return fmt.Sprintf("the machine was too slow, %v late; allowed: %v", s.Run.Slip.Round(time.Millisecond), s.Run.Scenario.SlipLimit())
}

// violated lists the properties that the run violated: first those that failed a test of the lock.
func (s Shown) violated() []checker.Property {
	list := summary.Violated(s.Tally())
	slices.SortStableFunc(list, func(a, b checker.Property) int { return s.rank(a) - s.rank(b) })
	return list
}

// rank is the place of a property among those that failed a test; the others come after them.
func (s Shown) rank(p checker.Property) int {
	if s.Run.Judged == nil {
		return 0
	}
	if i := slices.Index(s.Run.Judged.Failed, p); i >= 0 {
		return i
	}
	return len(s.Run.Judged.Failed)
}

// Outcome compares the run with what was expected of it or, of a lock that was tested, promised.
func (s Shown) Outcome() document.Cell {
	conclusion := s.Tally().Conclusion()
	switch j, why := s.Run.Judged, s.Uncounted(); {
	case why != "":
		return document.Cell{Text: conclusion.String() + ": " + why, Mark: document.Open}
	case j == nil && len(s.Run.Scenario.Expect) == 0 && conclusion == runner.Contradiction:
		return document.Cell{Text: "a violation; no verdict was expected", Mark: document.Bad}
	case j == nil:
		return document.Cell{Text: conclusion.String(), Mark: summary.MarkOf(conclusion)}
	case len(j.Failed) > 0:
		return document.Cell{Text: "failed the test: " + codes(j.Failed), Mark: document.Bad}
	}
	return document.Text("no promise is broken")
}

// codes lists the codes of properties.
func codes(list []checker.Property) string {
	all := make([]string, len(list))
	for i, p := range list {
		all[i] = p.Code()
	}
	return textfmt.List(all)
}

// told returns a finding as it has to be told with its standing.
func (s Shown) told(f checker.Finding) checker.Finding {
	if f.Verdict != checker.Violated || s.Run.Judged != nil {
		return f
	}
	f, _ = promises.Told(s.result().Executed(), f)
	return f
}

// findings are those of the run as they count: of a run that slipped, all are unknown, as in a tally.
func (s Shown) findings() []checker.Finding {
	why := s.Uncounted()
	all := slices.Clone(s.Run.Report.Findings)
	for i, f := range all {
		if why == "" {
			all[i] = s.told(f)
			continue
		}
		all[i] = checker.Finding{Property: f.Property, Verdict: checker.Unknown, Undecided: why}
	}
	return all
}
