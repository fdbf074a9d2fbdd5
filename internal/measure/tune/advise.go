package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/scenarios"
)

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

// AdviceFile is the name of the advice's file in its directory.
const AdviceFile = "tune.json"

// LoadAdvice reads the advice in a directory, except its scenarios, which are separate files.
// Errors name the file.
func LoadAdvice(dir string) (a Advice, err error) {
	path := filepath.Join(dir, AdviceFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, fmt.Errorf("%s has no %s: it is not the directory of an advice", dir, AdviceFile)
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err == nil && a.Question.Nodes == 0 {
		err = errors.New("it does not say what was asked")
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
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
			v.LateHolders, err = m.lateHolders(ctx, o, w, v.Seeds.First)
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
