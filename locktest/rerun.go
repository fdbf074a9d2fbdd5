package locktest

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// reruns are what came of a run that was run again and again.
type reruns struct {
	runner.Tally
	traits traits // of the lock, in all of them
}

// of says in how many runs a property was violated again, of those in which it was decided.
func (r reruns) of(p checker.Property) string {
	rate := r.Rate(p)
	text := fmt.Sprintf("in %d of %s", rate.K, textfmt.Count(r.Runs, "re-run"))
	if rate.N < r.Runs {
		text += fmt.Sprintf(", of which %d left it open", r.Runs-rate.N)
	}
	if rate.N > 0 {
		text += fmt.Sprintf(" (95 %% interval: %s %%)", rate.Interval())
	}
	return text
}

// rerunning is how long runs that fail are run again at most, by the real clock.
const rerunning = 15 * time.Second

// rerun runs again, so often, what was done in a run. It stops at the end of its time, and
// where there is no proper run.
func (tr trial) rerun(t *testing.T, o outcome, times int, end time.Time) (reruns, error) {
	done := o.Executed()
	all := reruns{Tally: runner.NewTally(done)}
	for all.Runs < times && t.Context().Err() == nil && (end.IsZero() || time.Now().Before(end)) {
		again, err := tr.run(t, done, o.Seed)
		if err != nil {
			return all, fmt.Errorf("after %s: %w", textfmt.Count(all.Runs, "re-run"), err)
		}
		all.Add(again.Result)
		all.traits.add(again.traits)
	}
	return all, nil
}
