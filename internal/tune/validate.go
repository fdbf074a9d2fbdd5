package tune

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Validation is what runs with seeds of their own showed of a setting.
type Validation struct {
	Seeds Seeds `json:"seeds"`

	Grants int `json:"grants"` // in everyday runs

	AcquireP99    time.Duration `json:"acquire_p99"` // with its 95 % interval
	AcquireP99Min time.Duration `json:"acquire_p99_min"`
	AcquireP99Max time.Duration `json:"acquire_p99_max"`

	Trials []Trial `json:"trials"`

	// Contradictions is what was seen and should not have been; none: it is validated.
	Contradictions []string `json:"contradictions"`

	scenarios []scenarios.Scenario // the first of each trial
	seeds     []uint64             // of these
}

// Seeds are those of the first and the last run.
type Seeds struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// Trial is one way to test a setting: K of N runs, or grants, violated a property.
type Trial struct {
	Name      string           `json:"name"`
	What      string           `json:"what"`
	Property  checker.Property `json:"property"`
	Runs      int              `json:"runs"`
	K         int              `json:"violations"`
	N         int              `json:"of"`
	Open      int              `json:"left_open,omitempty"` // runs that could not be judged: of these nothing is known
	PerGrant  bool             `json:"per_grant"`           // N counts grants, not runs
	Low       float64          `json:"low"`                 // Wilson's 95 % interval
	High      float64          `json:"high"`
	Predicted float64          `json:"predicted"` // by the model, at most
}

// newTrial counts the violations of runs.
func newTrial(name, what string, p checker.Property, perGrant bool, predicted float64, runs runner.Tally) Trial {
	rate := runs.Rate(p)
	if perGrant {
		rate = runs.PerGrant(p)
	}
	t := Trial{Name: name, What: what, Property: p, PerGrant: perGrant, Predicted: predicted,
		Runs: runs.Runs, Open: runs.Seen[p][checker.Unknown], K: rate.K, N: rate.N}
	t.Low, t.High = rate.Wilson()
	return t
}

// contradiction says that more was violated than the model has it; empty: it was not.
func (t Trial) contradiction() string {
	switch {
	case t.N == 0:
		return fmt.Sprintf("%s: nothing could be judged in %d runs", t.Name, t.Runs)
	case t.K > 0 && t.Low > t.Predicted:
		return fmt.Sprintf("%s: %s exclusion was violated %d times in %d, the model has %.3g at most", t.Name, t.Property, t.K, t.N, t.Predicted)
	}
	return ""
}

// everydayRounds is how often each client of an everyday run takes the lock.
const everydayRounds = 10

// validate runs a setting. runs is how many runs each trial has.
func (m *model) validate(ctx context.Context, o Options, w Weighed, want Wanted, first uint64) (Validation, error) {
	v := Validation{Seeds: Seeds{First: first, Last: first - 1}}
	run := func(name string, runs int, draw func(d dice) scenarios.Scenario) (runner.Tally, waits, error) {
		c := drawing{o.Backend, v.Seeds.Last + 1, o.step(name, runs)}
		tally, took, err := c.run(ctx, runs, draw)
		if err != nil {
			return tally, nil, fmt.Errorf("%s: %w", name, err)
		}
		v.scenarios, v.seeds = append(v.scenarios, tally.Scenario), append(v.seeds, c.seed)
		v.Seeds.Last += uint64(runs)
		return tally, took, nil
	}

	tally, took, err := run("everyday", max(o.Runs/5, 2), func(d dice) scenarios.Scenario {
		return m.everyday(w.Setting, d, everydayRounds, true, 1)
	})
	if err != nil {
		return v, err
	}
	v.Grants = tally.Measured.All().Grants
	v.AcquireP99, v.AcquireP99Min, v.AcquireP99Max = took.p99()
	v.Trials = append(v.Trials, newTrial("everyday", "clients as they are said to be, with pauses and crashes as often", checker.Effect, true, w.Risk.Total(), tally))

	tally, _, err = run("edge", o.Runs, func(d dice) scenarios.Scenario { return m.edge(w.Setting, d) })
	if err != nil {
		return v, err
	}
	early := 0.0
	if m.earlyRestart(w.Setting) > 0 {
		early = 1 // the given restart delay is known to be too short: clocks are told from it by no run
	}
	v.Trials = append(v.Trials, newTrial("edge", "held to the last instant on the worst clocks, with steps, crashes and restarts", checker.Lease, false, early, tally))

	if s, ok := m.slip(w); ok {
		tally, _, err = run("slips", o.Runs, func(d dice) scenarios.Scenario { return m.slips(s, d) })
		if err != nil {
			return v, err
		}
		v.Trials = append(v.Trials, newTrial("slips", s.what(m), checker.Effect, false, s.predicted, tally))
	}
	v.judge(want)
	return v, nil
}

// what says in words what a slip is.
func (s slip) what(m *model) string {
	switch {
	case m.FenceChecked:
		return fmt.Sprintf("pauses of %v in every hold, past every lease; the fence has to stop the writes", *s.pauses.Bound)
	case s.pauses.Bound != nil:
		return fmt.Sprintf("a pause of %v in every hold", *s.pauses.Bound)
	}
	return fmt.Sprintf("accelerated: a pause every %v, under a TTL of %v", s.pauses.Every.Round(time.Millisecond), s.TTL)
}

// judge compares what was measured with the model and the wishes.
func (v *Validation) judge(want Wanted) {
	v.Contradictions = []string{}
	for _, t := range v.Trials {
		if text := t.contradiction(); text != "" {
			v.Contradictions = append(v.Contradictions, text)
		}
	}
	switch {
	case v.Grants == 0:
		v.Contradictions = append(v.Contradictions, "everyday: nobody was granted the lock")
	case want.AcquireP99 > 0 && v.AcquireP99Min > want.AcquireP99:
		v.Contradictions = append(v.Contradictions, fmt.Sprintf("everyday: acquire p99 was %v, from %v to %v at 95 %%, more than the %v wanted",
			v.AcquireP99, v.AcquireP99Min, v.AcquireP99Max, want.AcquireP99))
	}
}
