package tune

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Options are how an advice is found.
type Options struct {
	Backend runner.Backend // the simulator
	Runs    int            // of each trial that validates a setting; at least 1
	Seed    uint64         // the same seed gives the same advice

	// Progress, unless nil, is told of each run: of what, how many there will be, and which
	// one it was.
	Progress func(what string, runs, done int)
}

// step counts runs for Progress.
func (o Options) step(what string, runs int) func() {
	done := 0
	return func() {
		if done++; o.Progress != nil {
			o.Progress(what, runs, done)
		}
	}
}

// Advice is the answer to a question.
type Advice struct {
	// Question is what was asked, with the samples in the place of their files; Runs and Seed
	// are those of the [Options]. With these three the advice repeats.
	Question Question `json:"question"`
	Runs     int      `json:"runs"`
	Seed     uint64   `json:"seed"`

	// Refusal is why no setting is recommended; empty: one is.
	Refusal string `json:"refusal,omitempty"`

	// Recommended is the setting; nil: there is none.
	Recommended *Weighed `json:"recommended,omitempty"`

	Validation *Validation `json:"validation,omitempty"` // of Recommended

	// Shorter is a setting with an extension that would meet the wishes under a shorter TTL,
	// by the model; nil: there is none, or Recommended has an extension.
	Shorter *Weighed `json:"shorter,omitempty"`

	// Basis is what each figure rests on.
	Basis []Basis `json:"basis"`

	// Rejected are settings that runs contradicted.
	Rejected []Rejected `json:"rejected"`

	// Front is the settings under which holds last for the work, and than which no other is
	// better in every way.
	Front []Weighed `json:"front"`

	WeighedSettings int `json:"weighed_settings"`

	// Scenarios repeat one run of each trial of the validation, with the seeds in their place.
	Scenarios []scenarios.Scenario `json:"-"`
	Seeds     []uint64             `json:"-"`
}

// Rejected is a setting that runs contradicted.
type Rejected struct {
	Setting        `json:"setting"`
	Contradictions []string `json:"contradictions"`
}

// mostTried is how many settings are validated before giving up.
const mostTried = 5

// Advise answers a question that [Question.Validate] has accepted. An error says that there
// is no answer; that no setting meets the wish is one. Where ctx ends while a setting is
// validated, what was weighed and rejected by then comes with the error.
func Advise(ctx context.Context, q Question, o Options) (Advice, error) {
	m := newModel(q.Known)
	scouted, err := m.scouts(ctx, o)
	if err != nil {
		return Advice{}, err
	}
	a, err := m.answer(ctx, q.Want, o, m.weigh(scouted))
	a.Question, a.Runs, a.Seed = q, o.Runs, o.Seed
	return a, err
}

// answer is the advice, given all settings with their figures.
func (m *model) answer(ctx context.Context, want Wanted, o Options, all []Weighed) (Advice, error) {
	a := Advice{Front: front(lasting(all)), WeighedSettings: len(all), Rejected: []Rejected{}, Basis: []Basis{}}
	ranked := want.ranked(all)
	if len(ranked) == 0 {
		a.Refusal = m.why(want, all)
		return a, nil
	}
	for i, w := range ranked[:min(mostTried, len(ranked))] {
		v, err := m.validate(ctx, o, w, want, o.Seed+uint64(i+1)*apart)
		if err != nil {
			return a, err
		}
		if len(v.Contradictions) == 0 {
			a.Recommended, a.Validation, a.Shorter = &w, &v, shorter(w, ranked)
			a.Basis = m.basis(w, v)
			a.Scenarios, a.Seeds = v.scenarios, v.seeds
			return a, nil
		}
		a.Rejected = append(a.Rejected, Rejected{w.Setting, v.Contradictions})
	}
	a.Refusal = fmt.Sprintf("the model has settings that meet the wish, but runs contradicted the first %d of them: %s", len(a.Rejected), a.Rejected[0].Contradictions[0])
	return a, nil
}

// shorter is the first of the ranked settings that extends where another does not, and has a
// shorter TTL.
func shorter(than Weighed, ranked []Weighed) *Weighed {
	for _, w := range ranked {
		if than.ExtendEvery == 0 && w.ExtendEvery > 0 && w.TTL < than.TTL {
			return &w
		}
	}
	return nil
}

// apart is how far the seeds of one validation are from those of the next, and from those
// that scout.
const apart = 1_000_000

const (
	scoutRuns   = 8
	scoutGrants = 640 // of all runs of a pace
)

// scouts measures the p99 of each pace.
func (m *model) scouts(ctx context.Context, o Options) (map[pace]time.Duration, error) {
	paces := m.paces()
	found, told := map[pace]time.Duration{}, o.step("scouting", scoutRuns*len(paces))
	rounds := max(2, scoutGrants/scoutRuns/min(m.Contention.Clients, mostClients))
	for _, p := range paces {
		c := drawing{o.Backend, o.Seed, told}
		_, took, err := c.run(ctx, scoutRuns, func(d dice) scenarios.Scenario { return m.scout(p, d, rounds) })
		if err != nil {
			return nil, fmt.Errorf("scouting: %w", err)
		}
		found[p], _, _ = took.p99()
	}
	return found, nil
}
