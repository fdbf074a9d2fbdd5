package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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

// Weighed is a setting with its figures.
type Weighed struct {
	Setting `json:"setting"`
	Figures `json:"figures"`
}

// spared is how much of what may be lost a setting should leave: see the package comment.
type spared struct{ availability, violations, p99 float64 }

var (
	withRoom = spared{0.5, 0.5, 0.8}
	justSo   = spared{1, 1, 1}
)

// missed says which wishes are not met.
func (w Wanted) missed(f Figures, room spared) (missed []string) {
	if w.Availability > 0 && 1-f.Availability > (1-w.Availability)*room.availability {
		missed = append(missed, wishAvailability)
	}
	if w.AcquireP99 > 0 && float64(f.AcquireP99) > float64(w.AcquireP99)*room.p99 {
		missed = append(missed, wishAcquire)
	}
	if w.ViolationsPerBillion != nil && f.Risk.PerBillion() > *w.ViolationsPerBillion*room.violations {
		missed = append(missed, wishViolations)
	}
	if f.Late > mostInVain {
		missed = append(missed, wishHold)
	}
	return missed
}

// mostInVain is how many holds may outlive their lease, whatever is wished for: a lock that
// does not last for the work is none.
const mostInVain = 0.01

// The wishes, as they are called in a question.
const (
	wishHold         = "hold"
	wishAvailability = "availability"
	wishAcquire      = "acquire_p99"
	wishViolations   = "violations_per_billion"
)

// ranked are the settings that meet all wishes, the one to recommend first.
func (w Wanted) ranked(all []Weighed) []Weighed {
	var roomy, tight []Weighed
	for _, one := range all {
		switch {
		case len(w.missed(one.Figures, withRoom)) == 0:
			roomy = append(roomy, one)
		case len(w.missed(one.Figures, justSo)) == 0:
			tight = append(tight, one)
		}
	}
	for _, list := range [][]Weighed{roomy, tight} {
		slices.SortStableFunc(list, func(a, b Weighed) int { return preferred(a.Setting, b.Setting) })
	}
	return append(roomy, tight...)
}

// preferred is the order of the choice.
func preferred(a, b Setting) int {
	extends := func(s Setting) int {
		if s.ExtendEvery > 0 {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(extends(a), extends(b)),
		cmp.Compare(a.TTL, b.TTL),
		cmp.Compare(b.ExtendEvery, a.ExtendEvery),
		cmp.Compare(b.RetryMax, a.RetryMax),
		cmp.Compare(a.NodeTimeout, b.NodeTimeout),
	)
}

// lasting are the settings under which holds seldom outlive their leases.
func lasting(all []Weighed) (list []Weighed) {
	for _, w := range all {
		if w.Late <= mostInVain {
			list = append(list, w)
		}
	}
	return list
}

// front are the settings that no other one is better than in every way: risk, availability,
// p99, requests and how long a dead holder blocks. Of equals the first stays.
func front(all []Weighed) (list []Weighed) {
	for i, a := range all {
		beaten := slices.ContainsFunc(all[:i], func(b Weighed) bool { return atLeastAsGood(b.Figures, a.Figures) }) ||
			slices.ContainsFunc(all[i+1:], func(b Weighed) bool {
				return atLeastAsGood(b.Figures, a.Figures) && !atLeastAsGood(a.Figures, b.Figures)
			})
		if !beaten {
			list = append(list, a)
		}
	}
	return list
}

func atLeastAsGood(a, b Figures) bool {
	return a.Risk.Total() <= b.Risk.Total() && a.Availability >= b.Availability &&
		a.AcquireP99 <= b.AcquireP99 && a.RequestsPerSecond <= b.RequestsPerSecond && a.BlockedByDead <= b.BlockedByDead
}

// weigh weighs all settings; scouted is the p99 of a pace, of which there are all.
func (m *model) weigh(scouted map[pace]time.Duration) (all []Weighed) {
	paces := m.paces()
	for _, timeout := range m.timeouts() {
		for _, s := range m.terms(timeout) {
			f := m.figures(s)
			for _, p := range paces {
				if p.timeout != timeout {
					continue
				}
				one := Weighed{s, f}
				one.RetryMin, one.RetryMax = p.retryMin, p.retryMax
				one.Figures.AcquireP99, one.Figures.RequestsPerSecond = scouted[p], m.requests(one.Setting)
				all = append(all, one)
			}
		}
	}
	return all
}
