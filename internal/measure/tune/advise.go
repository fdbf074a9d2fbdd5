package tune

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Advice answers a question. Question, Runs and Seed determine it.
type Advice struct {
	Question Question `json:"question"`
	Runs     int      `json:"runs"`
	Seed     uint64   `json:"seed"`

	Program string `json:"program,omitempty"` // that made it, with its version, if that is known

	Refusal     string      `json:"refusal,omitempty"` // why no setting is recommended
	Recommended *Weighed    `json:"recommended,omitempty"`
	Validation  *Validation `json:"validation,omitempty"`  // of Recommended
	Unvalidated string      `json:"unvalidated,omitempty"` // why runs did not validate it, or not in full

	// Fencing says whether the lock needs fences, what late holders cost without them, and what they cost.
	Fencing string `json:"fencing,omitempty"`

	Basis    []Basis   `json:"basis"`    // of each figure of Recommended
	Rejected []string  `json:"rejected"` // settings that runs contradicted
	Front    []Weighed `json:"front"`    // the Pareto-optimal settings among those whose leases outlast the work

	WeighedSettings int `json:"weighed_settings"`

	// Scenarios has a file for each trial of the validation, and restart.yaml and restart-too-early.yaml, which
	// are for real servers, too.
	Scenarios map[string]scenarios.Scenario `json:"-"`
}

// AdviceFile is the name of a stored advice, which is its JSON.
const AdviceFile = "tune.json"

// Load loads a stored advice, without its scenarios.
func Load(path string) (a Advice, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return a, err
	}
	if err = files.Strictly(text, &a); err == nil {
		err = a.Question.Validate() // of another file by this name it would be empty
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return a, err
}

// Confidence says how far runs confirm the recommendation.
func (a Advice) Confidence() string {
	switch {
	case a.Validation == nil:
		return "recommended by the model, not validated by runs: " + a.Unvalidated
	case a.Unvalidated != "":
		return "recommended, validated in part: " + a.Unvalidated
	}
	return "recommended"
}

// Warning says that the servers break assumptions of the advice, or is empty.
func (a Advice) Warning() string {
	if len(a.Question.Broken) == 0 {
		return ""
	}
	return fmt.Sprintf("The servers break assumptions of this advice: %s. Until that is mended, no figure holds (lockstorm doctor says what helps).", strings.Join(a.Question.Broken, "; "))
}

const (
	maxTried = 5 // settings that are validated before Advise gives up

	seedGap = 1_000_000 // between the seeds of two validations, and of the scouting runs

	scoutRuns   = 8
	scoutGrants = 640 // of all runs of a timing
)

// Advise answers a question that [Question.Validate] has accepted. If no setting meets the
// wishes, the advice says so; that is no error. If ctx ends during a validation, the error
// comes with what is known by then, and Recommended is what the model recommends.
func Advise(ctx context.Context, q Question, o Options) (Advice, error) {
	m := newModel(q.Known)
	timings := m.timings()
	scouted, step := map[timing]time.Duration{}, o.step("scouting", scoutRuns*len(timings))
	rounds := max(2, scoutGrants/scoutRuns/min(m.Contention.Clients, maxClients))
	for _, p := range timings {
		_, took, err := batch{o.Backend, o.Seed, step}.run(ctx, scoutRuns, func(d rng) scenarios.Scenario { return m.scout(p, d, rounds) })
		if err != nil {
			return Advice{}, fmt.Errorf("scouting: %w", err)
		}
		scouted[p], _, _ = took.p99()
	}
	a, err := m.answer(ctx, q.Want, o, m.weigh(scouted))
	a.Question, a.Runs, a.Seed = q, o.Runs, o.Seed
	return a, err
}

// answer chooses and validates a setting, given all settings with their figures.
func (m *model) answer(ctx context.Context, want Wanted, o Options, all []Weighed) (Advice, error) {
	longEnough := slices.DeleteFunc(slices.Clone(all), func(w Weighed) bool { return w.Late > maxLate })
	a := Advice{Front: paretoFront(longEnough), WeighedSettings: len(all), Rejected: []string{}, Basis: []Basis{}}
	ranked := want.ranked(all)
	if len(ranked) == 0 {
		a.Refusal = m.refusal(want, all)
		return a, nil
	}
	for i, w := range ranked[:min(maxTried, len(ranked))] {
		v, err := m.validate(ctx, o, w, want, o.Seed+uint64(i+1)*seedGap)
		switch {
		case err != nil && ctx.Err() == nil:
			return a, err
		case err != nil:
			a.Unvalidated, v = "stopped during the validation", Validation{}
		case len(v.Contradictions) > 0:
			a.Rejected = append(a.Rejected, fmt.Sprintf("a TTL of %v, extended every %v, retries after %v to %v: %s", textfmt.Whole(w.TTL), textfmt.Whole(w.ExtendEvery), w.RetryMin, w.RetryMax, strings.Join(v.Contradictions, "; ")))
			continue
		default:
			a.Validation, a.Unvalidated, a.Scenarios = &v, strings.Join(v.Skipped, "; "), v.files
			a.Scenarios["restart.yaml"], a.Scenarios["restart-too-early.yaml"] = m.onServers(w.Setting)
		}
		a.Recommended, a.Basis, a.Fencing = &w, m.basis(want, w, v), m.fencing(want, w, all, a.Front)
		return a, err
	}
	a.Refusal = fmt.Sprintf("settings meet the goals in the model, but runs contradicted the first %d: %s", len(a.Rejected), a.Rejected[0])
	return a, nil
}

// weigh returns all settings with their figures. scouted has the p99 of every timing.
func (m *model) weigh(scouted map[timing]time.Duration) (all []Weighed) {
	for _, timeout := range m.timeouts() {
		for _, s := range m.candidates(timeout) {
			f := m.figures(s)
			for _, p := range m.timings() {
				if p.timeout == timeout {
					s.RetryMin, s.RetryMax = p.retryMin, p.retryMax
					f.AcquireP99, f.RequestsPerSecond = scouted[p], m.requests(s)
					all = append(all, Weighed{s, f})
				}
			}
		}
	}
	return all
}
