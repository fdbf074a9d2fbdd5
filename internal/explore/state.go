package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The format of a stored [State], and its version.
const (
	StateFormat  = "lockstorm-exploration"
	StateVersion = 1
)

// MaxShards is the largest number of shards of an exploration.
const MaxShards = 10_000

// State is how far an exploration has come: enough to continue it, or to join the shards of one. The
// states that were seen are not in it, so that a continued exploration may make runs again that show
// nothing new. It leaves none out.
type State struct {
	World  string `json:"world"` // a hash of the scenario, the bounds and the properties
	Build  string `json:"build"` // see [Limits]
	Bounds Bounds `json:"bounds"`
	Shard  int    `json:"shard"` // from 0
	Shards int    `json:"shards"`

	Done       int                              `json:"deviations_done"`
	Complete   bool                             `json:"complete"`
	Properties map[checker.Property]SavedResult `json:"properties"`
	Tally      Tally                            `json:"tally"` // of the last pass

	// Pass is the pass that was not finished, if there is one: a search for each plan.
	Pass []SavedSearch `json:"pass,omitempty"`
}

// SavedResult is what has been shown of a property.
type SavedResult struct {
	Within Verdict `json:"within"`
	Replay string  `json:"replay,omitempty"` // of the shortest run that violates it, in the world that is explored
	Events int     `json:"events,omitempty"`

	Held    int `json:"held"` // executions of the last pass
	Unknown int `json:"unknown"`
}

// SavedSearch is how far the search with one plan has come.
type SavedSearch struct {
	Turns    []runner.Turn                                `json:"turns,omitempty"` // of the next run
	Tally    Tally                                        `json:"tally"`
	Verdicts map[checker.Property]map[checker.Verdict]int `json:"verdicts,omitempty"` // of the executions
	Finished bool                                         `json:"finished"`
	Bound    bool                                         `json:"bound"`
}

// worldSum returns a hash of what is explored.
func worldSum(s scenarios.Scenario, b Bounds, wanted []checker.Property) (string, error) {
	return parts.Hash([]any{s, b, wanted})
}

// saved returns the state of an exploration that has come to an outcome in this pass.
func (x *pass) saved(o Outcome) State {
	s := State{
		World: x.world, Build: x.limits.Build, Bounds: x.bounds, Shard: x.limits.Shard, Shards: x.limits.Shards,
		Done: o.Deviations, Complete: o.Complete, Properties: map[checker.Property]SavedResult{}, Tally: o.Tally,
	}
	for _, j := range o.Judged {
		r := SavedResult{Within: j.Within, Held: j.Held, Unknown: j.Unknown}
		if j.Find != nil {
			r.Replay, r.Events = j.Find.Replay(scenarios.Part{}).String(), j.Find.Events
		}
		s.Properties[j.Property] = r
	}
	if o.Complete || o.Deviations == x.deviations {
		return s
	}
	for _, one := range x.searches {
		s.Pass = append(s.Pass, one.saved())
	}
	return s
}

// saved returns the state of a search; nil: it has not begun.
func (s *search) saved() SavedSearch {
	if s == nil {
		return SavedSearch{}
	}
	r := SavedSearch{Tally: s.tally, Verdicts: map[checker.Property]map[checker.Verdict]int{}, Finished: s.finished, Bound: s.bound}
	for p, of := range s.verdicts {
		r.Verdicts[p] = maps.Clone(of)
	}
	if !s.finished {
		r.Turns = s.turns()
	}
	return r
}

// resume continues a search.
func (s *search) resume(from SavedSearch) {
	s.tally, s.finished, s.bound = from.Tally, from.Finished, from.Bound
	s.tally.States = 0 // they are forgotten
	s.resuming = from.Turns
	for p, of := range from.Verdicts {
		s.verdicts[p] = of
	}
}

// resumed returns the outcome of the state that is continued, and the searches of its last pass.
func (l Limits) resumed(ctx context.Context, s scenarios.Scenario, b Bounds, wanted []checker.Property, plans [][]scenarios.Pick, world string) (Outcome, []SavedSearch, error) {
	from := l.Resume
	if from == nil {
		return Outcome{Plans: len(plans), Deviations: -1}, nil, nil
	}
	err := from.check(world, l.Build)
	switch {
	case err != nil:
		return Outcome{}, nil, &StateError{err}
	case from.Shard != l.Shard || from.Shards != l.Shards:
		return Outcome{}, nil, &StateError{fmt.Errorf("it is of shard %d/%d", from.Shard+1, from.Shards)}
	case from.Pass != nil && len(from.Pass) != len(plans):
		return Outcome{}, nil, &StateError{fmt.Errorf("it has %d plans, not %d", len(from.Pass), len(plans))}
	}
	o, err := from.restored(ctx, s, wanted, len(plans))
	if err != nil {
		return o, nil, &StateError{err}
	}
	o.State = *from
	return o, from.Pass, nil
}

// restored returns the outcome of the passes that a state has finished, with its finds.
func (s State) restored(ctx context.Context, of scenarios.Scenario, wanted []checker.Property, plans int) (Outcome, error) {
	o := Outcome{Tally: s.Tally, Plans: plans, Deviations: s.Done, Complete: s.Complete}
	for _, p := range wanted {
		r := s.Properties[p]
		j := Judged{Property: p, Within: r.Within, Held: r.Held, Unknown: r.Unknown}
		if r.Replay != "" {
			find, err := findAt(ctx, of, r.Replay)
			if err != nil {
				return o, err
			}
			j.Find = find
		}
		j.Verdict = j.verdict(s.Complete)
		o.Judged = append(o.Judged, j)
	}
	return o, nil
}

// findAt repeats the run of a replay string in a world.
func findAt(ctx context.Context, s scenarios.Scenario, text string) (*Find, error) {
	again, err := runner.ParseReplay(text)
	if err != nil {
		return nil, err
	}
	e, _, err := Bounds{}.prepare(s, again.Part.Faults)
	if err != nil {
		return nil, err
	}
	r, err := e.WithCourse(again.Course).Run(ctx, again.Seed, nil)
	switch {
	case err != nil:
		return nil, err
	case !again.Same(r):
		return nil, fmt.Errorf("the run of the replay string %q is not that of before: the program has changed", text)
	}
	return &Find{Events: r.Events, Faults: len(again.Part.Faults), Result: r, picks: again.Part.Faults}, nil
}

// StateError is a state that the exploration cannot be continued from.
type StateError struct{ Err error }

func (e *StateError) Error() string { return "the state cannot be continued: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *StateError) Unwrap() error { return e.Err }

// check returns an error if a state is not of this exploration.
func (s State) check(world, build string) error {
	switch {
	case s.World != world:
		return errors.New("it is of another scenario, or other bounds or properties")
	case s.Build != build:
		return errors.New("it was made by another build of Lockstorm, which may run other code")
	}
	return s.Validate()
}

// Validate returns an error if no exploration has the state.
func (s State) Validate() error {
	switch {
	case s.Shards < 1 || s.Shards > MaxShards || s.Shard < 0 || s.Shard >= s.Shards:
		return fmt.Errorf("shard %d of %d: want up to %d shards", s.Shard+1, s.Shards, MaxShards)
	case s.Done < -1:
		return fmt.Errorf("%d deviations are done", s.Done)
	case s.Complete && s.Pass != nil:
		return errors.New("it is complete, and has a pass that is not finished")
	}
	if err := s.Bounds.Validate(); err != nil {
		return err
	}
	for p, r := range s.Properties {
		if err := r.validate(p); err != nil {
			return err
		}
	}
	for i, one := range s.Pass {
		if err := one.validate(); err != nil {
			return fmt.Errorf("plan %d: %w", i+1, err)
		}
	}
	return s.Tally.validate()
}

func (r SavedResult) validate(p checker.Property) error {
	switch {
	case !slices.Contains(checker.Properties(), p):
		return fmt.Errorf("there is no property %q", p)
	case !slices.Contains([]Verdict{Holds, Violated, Unfinished, Vacuous}, r.Within):
		return fmt.Errorf("%s: there is no verdict %q", p, r.Within)
	case r.Events < 0 || r.Held < 0 || r.Unknown < 0:
		return fmt.Errorf("%s: %d events, %d runs held and %d unknown: want 0 or more", p, r.Events, r.Held, r.Unknown)
	}
	return nil
}

func (s SavedSearch) validate() error {
	for i, t := range s.Turns {
		if t.Point < 0 || t.Way < 1 || i > 0 && t.Point <= s.Turns[i-1].Point {
			return fmt.Errorf("way %d at point %d: want other ways than the first, in the order of their points", t.Way, t.Point)
		}
	}
	for p, of := range s.Verdicts {
		for v, runs := range of {
			if runs < 0 || !slices.Contains(checker.Properties(), p) {
				return fmt.Errorf("%s: %d runs %v", p, runs, v)
			}
		}
	}
	return s.Tally.validate()
}

func (t Tally) validate() error {
	if min(t.Executions, t.Cut, t.Overlapping, t.States, t.Events, t.UntriedReturns) < 0 || t.Share < 0 || t.Share > 1 {
		return fmt.Errorf("%+v: want 0 or more, and a share of at most 1", t)
	}
	return nil
}

// Join returns the outcome of an exploration whose shards are in the states, which this build of the program
// has made. All of them are needed.
func Join(ctx context.Context, s scenarios.Scenario, wanted []checker.Property, states []State, build string) (Outcome, Bounds, error) {
	first := states[0]
	world, err := worldSum(s, first.Bounds, wanted)
	if err != nil {
		return Outcome{}, first.Bounds, err
	}
	if err := first.check(world, build); err != nil {
		return Outcome{}, first.Bounds, fmt.Errorf("shard %d: %w", first.Shard+1, err)
	}
	have := make([]bool, first.Shards)
	total := first
	total.Tally, total.Properties = Tally{Share: 1}, map[checker.Property]SavedResult{}
	for _, state := range states {
		switch err := state.check(world, build); {
		case err != nil:
			return Outcome{}, first.Bounds, fmt.Errorf("shard %d: %w", state.Shard+1, err)
		case state.Shards != first.Shards || state.Shard < 0 || state.Shard >= len(have) || have[state.Shard]:
			return Outcome{}, first.Bounds, fmt.Errorf("shard %d/%d comes twice, or beside one of %d", state.Shard+1, state.Shards, first.Shards)
		}
		have[state.Shard] = true
		total.add(state)
	}
	if missing := slices.Index(have, false); missing >= 0 {
		return Outcome{}, first.Bounds, fmt.Errorf("shard %d/%d is missing", missing+1, first.Shards)
	}
	o, err := total.restored(ctx, s, wanted, 0)
	if err != nil {
		return o, first.Bounds, err
	}
	return o, first.Bounds, o.nameDeviations(ctx)
}

// add adds what another shard has shown.
func (s *State) add(other State) {
	s.Done, s.Complete = min(s.Done, other.Done), s.Complete && other.Complete
	t, more := &s.Tally, other.Tally
	t.Overlapping += more.Overlapping
	t.Executions, t.Cut, t.States, t.Events = t.Executions+more.Executions, t.Cut+more.Cut, t.States+more.States, t.Events+more.Events
	t.UntriedReturns += more.UntriedReturns
	t.Share = min(t.Share, more.Share)
	for p, r := range other.Properties {
		was, known := s.Properties[p]
		if !known {
			s.Properties[p] = r
			continue
		}
		if r.Replay != "" && (was.Replay == "" || r.Events < was.Events) {
			was.Replay, was.Events = r.Replay, r.Events
		}
		was.Held, was.Unknown = was.Held+r.Held, was.Unknown+r.Unknown
		was.Within = worse(was.Within, r.Within)
		s.Properties[p] = was
	}
}

// worse returns the verdict on the runs of two shards together.
func worse(a, b Verdict) Verdict {
	for _, v := range []Verdict{Violated, Unfinished, Holds} {
		if a == v || b == v {
			return v
		}
	}
	return Vacuous
}
