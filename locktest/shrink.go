package locktest

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/search/shrink"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

var shrinkRuns = flag.Int("locktest.shrink", -1, "if a generated plan fails, remove the faults that do not matter, within so many `runs`; 0: never (default 100 in memory, 0 on real servers)")

// shrinkLimit returns how many runs a reduction may take.
func (tr trial) shrinkLimit() int {
	if *shrinkRuns >= 0 {
		return *shrinkRuns
	}
	return tr.world().shrink
}

// showTries is how often a smaller plan is run before it counts as one that shows nothing. Runs
// do not repeat exactly, so one run is not enough.
const showTries = 10

// planReduction removes faults from the plan of a failed run.
type planReduction struct {
	trial
	t        *testing.T
	property checker.Property
	causes   []checker.Assumption // of the violation
	limit    int                  // of runs
	runs     int

	shown *runResult // the last run that shows the same; nil: none
}

// shrunk returns the run of a smaller plan that violates the property by the same cause, and
// what to say about it. A plan that was not generated is left as it is.
func (tr trial) shrunk(t *testing.T, o runResult, first checker.Finding, within time.Duration) (runResult, string) {
	limit := tr.shrinkLimit()
	switch {
	case o.Scenario.Generate == nil || len(o.Plan) == 0 || limit == 0:
		return o, ""
	case within == 0:
		return o, fmt.Sprintf("The plan was not shrunk: %v was used up.", tr.budget)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	r := &planReduction{trial: tr, t: t, property: first.Property, causes: assumptionsOf(first), limit: limit}
	_, err := shrink.Shrinker{PlanOnly: true}.Shrink(ctx, o.Executed(), o.Seed, r.shows)
	if r.shown == nil {
		return o, fmt.Sprintf("The plan was not shrunk: it did not fail again in %s.", textfmt.Count(r.runs, "run"))
	}
	return *r.shown, r.text(len(o.Plan), err)
}

// text says how many faults were removed. err is why the reduction ended early.
func (r *planReduction) text(before int, err error) string {
	left := len(r.shown.Plan)
	text := fmt.Sprintf("The plan that was generated had %s; ", textfmt.Count(before, "fault"))
	switch {
	case left == before && before == 1:
		text += "it matters"
	case left == before:
		text += "each of them matters"
	case left == 0:
		text += "none of them matters"
	default:
		text += fmt.Sprintf("%d of them %s", before-left, doNot(before-left))
	}
	text += fmt.Sprintf(" (%s", textfmt.Count(r.runs, "run"))
	if err != nil || r.runs >= r.limit {
		text += ", after which the search was stopped"
	}
	return text + ")."
}

func doNot(n int) string {
	if n == 1 {
		return "does not matter and was removed"
	}
	return "do not matter and were removed"
}

// shows implements [shrink.Shows].
func (r *planReduction) shows(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error) {
	for range showTries {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if r.runs >= r.limit {
			return false, errShrinkLimit
		}
		r.runs++
		o, err := r.run(r.t, s, seed)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(o.judge(r.Config).Broken, r.same) {
			r.shown = &o
			return true, nil
		}
	}
	return false, nil
}

// errShrinkLimit ends a reduction.
var errShrinkLimit = fmt.Errorf("-locktest.shrink: the limit of runs is reached")

// same reports whether a finding is the violation that is shrunk, by no further cause.
func (r *planReduction) same(f checker.Finding) bool {
	return f.Property == r.property && !slices.ContainsFunc(assumptionsOf(f), func(a checker.Assumption) bool { return !slices.Contains(r.causes, a) })
}

// assumptionsOf lists the assumptions that a finding says were broken.
func assumptionsOf(f checker.Finding) (list []checker.Assumption) {
	for _, c := range f.Causes {
		list = append(list, c.Assumption)
	}
	return list
}
