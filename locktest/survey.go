package locktest

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Seen is one run of a storm, whatever was found in it.
type Seen struct {
	runner.Result
	outcome outcome
	trial   trial
	t       *testing.T // of its storm
}

// Survey tries a lock as [Run] does, and judges it by nothing: each run is handed to see, in
// the subtest of its storm, which goes on with the next seed as long as see says so. There is
// no promise that could fail the test; where there was no proper run it fails all the same.
//
// With -locktest.witness=DIR it does what Run does.
func Survey(t *testing.T, c Config, open func(Env) Locker, see func(*testing.T, Seen) (more bool)) {
	t.Helper()
	each(t, c, open, func(tr trial, t *testing.T, s Storm) error { return tr.survey(t, s, see) })
}

func (tr trial) survey(t *testing.T, s Storm, see func(*testing.T, Seen) bool) error {
	for _, seed := range tr.seeds(s) {
		o, err := tr.settled(t, tr.scenario(s), seed)
		if err != nil {
			return improper(s, o, err)
		}
		if !see(t, Seen{o.Result, o, tr, t}) {
			break
		}
	}
	return nil
}

// Beyond says why the plan that was carried out is beyond what a property asks of a lock of
// which nothing is known; nil: it is not, and a lock that violates it there is at fault.
func (s Seen) Beyond(p checker.Property) error {
	done := s.Executed()
	return fuzz.ExternalTerms(done, s.outcome.traits.endless).Excuse(p, done)
}

// Rerun runs again, so often, what was done in the run.
func (s Seen) Rerun(times int) (runner.Tally, error) {
	again, err := s.trial.rerun(s.t, s.outcome, times, time.Time{})
	return again.Tally, err
}

// Keep stores the run in a new directory below parent.
// A number is appended to the name if that is taken.
func (s Seen) Keep(parent, name string) (dir string, err error) { return s.outcome.store(parent, name) }
