package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Options are the parameters of [Advise].
type Options struct {
	Backend runner.Backend // the simulator
	Runs    int            // of each trial that validates a setting, at least 1
	Seed    uint64         // the same seed gives the same advice

	maxRequests int // of a trial, about; 0 means defaultMaxRequests

	// Estimate adds an estimate of late holders by multilevel splitting: see [LateHolders]. It takes
	// minutes.
	Estimate bool

	// Progress, unless nil, is called before the first run of a trial and after each run, with
	// the name of the trial, the number of its runs and the number of those done.
	Progress func(what string, runs, done int)
}

// step returns a function that counts a run and calls Progress.
func (o Options) step(what string, runs int) func() {
	done := 0
	if o.Progress != nil {
		o.Progress(what, runs, 0)
	}
	return func() {
		if done++; o.Progress != nil {
			o.Progress(what, runs, done)
		}
	}
}

// defaultMaxRequests bounds the requests of a trial: with long holds there are fewer runs, or none. Two
// cores simulate as many in about half a minute.
const defaultMaxRequests = 20_000_000

// Advice answers a question.
type Advice struct {
	// Question is the question, with the samples of the files that it names. The others are those of
	// the [Options]. These three determine the advice.
	Question Question `json:"question"`
	Runs     int      `json:"runs"`
	Seed     uint64   `json:"seed"`

	// Program names the program that made the advice, with its version. It is empty if that is not known.
	Program string `json:"program,omitempty"`

	// Refusal says why no setting is recommended. It is empty if one is.
	Refusal string `json:"refusal,omitempty"`

	// Recommended is the recommended setting, or nil.
	Recommended *Weighed `json:"recommended,omitempty"`

	Validation *Validation `json:"validation,omitempty"` // of Recommended

	// Unvalidated says why runs did not validate Recommended, or not in full. It is empty if
	// they did.
	Unvalidated string `json:"unvalidated,omitempty"`

	// Shorter is a setting with an extension that meets the wishes with a shorter TTL,
	// according to the model. It is nil if there is none, or if Recommended has an extension.
	Shorter *Weighed `json:"shorter,omitempty"`

	// Basis says what each figure rests on.
	Basis []Basis `json:"basis"`

	// Rejected lists the settings that runs contradicted.
	Rejected []Rejected `json:"rejected"`

	// Front lists the Pareto-optimal settings among those whose leases outlast the work.
	Front []Weighed `json:"front"`

	WeighedSettings int `json:"weighed_settings"`

	// Scenarios has one scenario of each trial of the validation, and Seeds their seeds.
	Scenarios []scenarios.Scenario `json:"-"`
	Seeds     []uint64             `json:"-"`

	// OnServers has scenarios of Recommended for real servers.
	OnServers []OnServers `json:"-"`
}

// Rejected is a setting that runs contradicted.
type Rejected struct {
	Setting        `json:"setting"`
	Contradictions []string `json:"contradictions"`
}

// maxTried is how many settings are validated before Advise gives up.
const maxTried = 5

// Advise answers a question that [Question.Validate] has accepted. If no setting meets the
// wishes, the advice says so; that is no error. If ctx ends during a validation, the error
// comes with what is known by then, and Recommended is what the model recommends.
func Advise(ctx context.Context, q Question, o Options) (Advice, error) {
	m := newModel(q.Known)
	scouted, err := m.scoutAll(ctx, o)
	if err != nil {
		return Advice{}, err
	}
	a, err := m.answer(ctx, q.Want, o, m.weigh(scouted))
	a.Question, a.Runs, a.Seed = q, o.Runs, o.Seed
	return a, err
}

// answer chooses and validates a setting, given all settings with their figures.
func (m *model) answer(ctx context.Context, want Wanted, o Options, all []Weighed) (Advice, error) {
	longEnough := slices.DeleteFunc(slices.Clone(all), func(w Weighed) bool { return w.Late > maxLate })
	a := Advice{Front: paretoFront(longEnough), WeighedSettings: len(all), Rejected: []Rejected{}, Basis: []Basis{}}
	ranked := want.ranked(all)
	if len(ranked) == 0 {
		a.Refusal = m.refusal(want, all)
		return a, nil
	}
	for i, w := range ranked[:min(maxTried, len(ranked))] {
		v, err := m.validate(ctx, o, w, want, o.Seed+uint64(i+1)*seedGap)
		if err != nil && ctx.Err() == nil {
			return a, err
		}
		if err != nil {
			a.Recommended, a.Basis, a.Unvalidated = &w, m.basis(w, v), "stopped during the validation"
			return a, err
		}
		if len(v.Contradictions) == 0 {
			a.Recommended, a.Validation, a.Shorter = &w, &v, shorter(w, ranked)
			err := m.addEstimate(ctx, o, w, &v)
			a.Basis, a.Unvalidated = m.basis(w, v), strings.Join(v.Skipped, "; ")
			a.Scenarios, a.Seeds = v.scenarios, v.seeds
			a.OnServers = m.onServers(w.Setting)
			return a, err
		}
		a.Rejected = append(a.Rejected, Rejected{w.Setting, v.Contradictions})
	}
	a.Refusal = fmt.Sprintf("settings meet the wishes in the model, but runs contradicted the first %d: %s", len(a.Rejected), a.Rejected[0].Contradictions[0])
	return a, nil
}

// shorter returns the first ranked setting that has an extension and a shorter TTL, if than
// has no extension.
func shorter(than Weighed, ranked []Weighed) *Weighed {
	for _, w := range ranked {
		if than.ExtendEvery == 0 && w.ExtendEvery > 0 && w.TTL < than.TTL {
			return &w
		}
	}
	return nil
}

// seedGap is the distance between the seeds of two validations, and of the scouting runs.
const seedGap = 1_000_000

const (
	scoutRuns   = 8
	scoutGrants = 640 // of all runs of a timing
)

// scoutAll measures the acquire p99 of each timing.
func (m *model) scoutAll(ctx context.Context, o Options) (map[timing]time.Duration, error) {
	timings := m.timings()
	found, step := map[timing]time.Duration{}, o.step("scouting", scoutRuns*len(timings))
	rounds := max(2, scoutGrants/scoutRuns/min(m.Contention.Clients, maxClients))
	for _, p := range timings {
		c := batch{o.Backend, o.Seed, step}
		_, took, err := c.run(ctx, scoutRuns, func(d rng) scenarios.Scenario { return m.scout(p, d, rounds) })
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

// headroom is the share of each budget that a setting may use up: see the package comment.
type headroom struct{ availability, violations, p99 float64 }

var (
	withHeadroom = headroom{0.5, 0.5, 0.8}
	noHeadroom   = headroom{1, 1, 1}
)

// missed returns the wishes that are not met.
func (w Wanted) missed(f Figures, room headroom) (missed []string) {
	if w.Availability > 0 && 1-f.Availability > (1-w.Availability)*room.availability {
		missed = append(missed, wishAvailability)
	}
	if w.AcquireP99 > 0 && float64(f.AcquireP99) > float64(w.AcquireP99)*room.p99 {
		missed = append(missed, wishAcquire)
	}
	if w.ViolationsPerBillion != nil && f.Risk.PerBillion() > *w.ViolationsPerBillion*room.violations {
		missed = append(missed, wishViolations)
	}
	if f.Late > maxLate {
		missed = append(missed, wishHold)
	}
	return missed
}

// maxLate is the share of holds that may outlive their lease, whatever is wanted. A lock with
// more is useless for the work.
const maxLate = 0.01

// The names of the wishes, as in a question.
const (
	wishHold         = "hold"
	wishAvailability = "availability"
	wishAcquire      = "acquire_p99"
	wishViolations   = "violations_per_billion"
)

// ranked returns the settings that meet all wishes, the one to recommend first.
func (w Wanted) ranked(all []Weighed) []Weighed {
	var roomy, tight []Weighed
	for _, one := range all {
		switch {
		case len(w.missed(one.Figures, withHeadroom)) == 0:
			roomy = append(roomy, one)
		case len(w.missed(one.Figures, noHeadroom)) == 0:
			tight = append(tight, one)
		}
	}
	for _, list := range [][]Weighed{roomy, tight} {
		slices.SortStableFunc(list, func(a, b Weighed) int { return preferred(a.Setting, b.Setting) })
	}
	return append(roomy, tight...)
}

// preferred compares two settings that both meet the wishes.
func preferred(a, b Setting) int {
	return cmp.Or(
		cmp.Compare(min(a.ExtendEvery, 1), min(b.ExtendEvery, 1)), // those without first
		cmp.Compare(a.TTL, b.TTL),
		cmp.Compare(b.ExtendEvery, a.ExtendEvery),
		cmp.Compare(b.RetryMax, a.RetryMax),
		cmp.Compare(a.NodeTimeout, b.NodeTimeout),
	)
}

// paretoFront returns the settings that no other setting dominates in risk, availability, p99,
// requests and the time that a dead holder blocks. Of equal settings the first is kept.
func paretoFront(all []Weighed) (list []Weighed) {
	for i, a := range all {
		beaten := false
		for j, b := range all {
			beaten = beaten || j != i && atLeastAsGood(b.Figures, a.Figures) && (j < i || !atLeastAsGood(a.Figures, b.Figures))
		}
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

// weigh returns all settings with their figures. scouted has the p99 of every timing.
func (m *model) weigh(scouted map[timing]time.Duration) (all []Weighed) {
	timings := m.timings()
	for _, timeout := range m.timeouts() {
		for _, s := range m.candidates(timeout) {
			f := m.figures(s)
			for _, p := range timings {
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
