package nemesis

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
)

// Plan is a list of faults. It is data: read, printed, generated and shrunk.
type Plan []Fault

// Kinds returns the kinds of the plan's faults, each once, in the order of [Kinds].
func (p Plan) Kinds() []Kind {
	all, _ := Kinds()
	return slices.DeleteFunc(all, func(k Kind) bool {
		return !slices.ContainsFunc(p, func(f Fault) bool { return f.Action.Kind() == k })
	})
}

// CutsPower reports whether a node loses power.
func (p Plan) CutsPower() bool {
	return slices.ContainsFunc(p, func(f Fault) bool { _, is := f.Action.(*PowerLoss); return is })
}

// AsksFor reports whether a fault of the plan needs a feature.
func (p Plan) AsksFor(f Feature) bool {
	return slices.ContainsFunc(p, func(one Fault) bool { return slices.Contains(featuresOf(one.Action), f) })
}

// StepsOf lists the steps of a client at which a fault of the plan may begin or end, in
// their order. The scheduler ignores the client's other steps.
func (p Plan) StepsOf(client int) []env.Step {
	return slices.DeleteFunc(env.Steps(), func(s env.Step) bool {
		return !slices.ContainsFunc(p, func(f Fault) bool {
			waits := func(m *Trigger) bool { return m != nil && m.Client == client && string(m.Step) == s.String() }
			return waits(&f.Start) || waits(f.end())
		})
	})
}

func (p Plan) validate(s Setting) error {
	for i := range p {
		if err := p[i].validate(s); err != nil {
			return field(fmt.Sprintf("[%d]", i), err)
		}
	}
	return p.overlap(s)
}

func (f *Fault) validate(s Setting) error {
	action := f.Action
	if action == nil {
		return errors.New("a fault names exactly one kind, as in crash: {node: 3}")
	}
	if err := action.validate(s); err != nil {
		return field(string(action.Kind()), err)
	}
	if err := f.Start.validate(s, false); err != nil {
		return field("start", err)
	}
	ending := action.ending()
	if f.End == nil {
		switch {
		case ending.heals:
			return field("end", fmt.Errorf("missing: %s heals when it ends", action.Kind().one()))
		case ending.required:
			return field("end", fmt.Errorf("missing: %s has to end", action.Kind().one()))
		}
		return nil
	}
	if ending.forbidden != "" {
		return field("end", errors.New(ending.forbidden))
	}
	if ending.automatic != "" {
		return field("end", errors.New(ending.automatic))
	}
	if err := f.End.validate(s, true); err != nil {
		return field("end", err)
	}
	if f.Start.timed() && f.End.timed() && f.End.At < f.Start.At {
		return field("end", fmt.Errorf("%v is before the start at %v", f.End.At, f.Start.At))
	}
	return nil
}

// overlap finds two faults with the same claim at the same time, as far as their
// times are known before the run. The scheduler finds the rest.
func (p Plan) overlap(s Setting) error {
	for i := range p {
		for j := range i {
			a, b := &p[j], &p[i]
			target := conflict(a, b, s)
			if target == "" || !a.Start.timed() || !b.Start.timed() {
				continue
			}
			// At one instant faults begin in the order of planning.
			apart := a.endsBefore(b, true) || b.Start.At < a.Start.At && b.endsBefore(a, true)
			if !apart {
				return field(fmt.Sprintf("[%d]", i), fmt.Errorf("overlaps fault %d: both hold %s", j+1, target))
			}
		}
	}
	return nil
}

// endsBefore reports whether f has ended when g starts; both starts are timed. It
// returns hope if that is unknown before the run because f ends at a step.
func (f *Fault) endsBefore(g *Fault, hope bool) bool {
	end := f.end()
	switch {
	case f.Momentary():
		return f.Start.At < g.Start.At
	case end == nil:
		return false
	case end.After != nil:
		return f.Start.At+*end.After <= g.Start.At
	case end.timed():
		return end.At <= g.Start.At
	}
	return hope && f.Start.At <= g.Start.At
}

// conflict returns a claim that both faults have, or "".
func conflict(a, b *Fault, s Setting) string {
	held := map[string]bool{}
	for _, t := range a.Action.claims(s) {
		held[t] = true
	}
	for _, t := range b.Action.claims(s) {
		if held[t] {
			return t
		}
	}
	return ""
}

// Ability says which faults the worlds of a backend can inject.
type Ability struct {
	// Name is what a user calls the backend.
	Name string

	// Kinds lists the kinds of faults that they can inject.
	Kinds []Kind

	// Features lists the features of those kinds that they support.
	Features []Feature
}

// Refuse returns a [RefusedError] for the first fault of the plan that the backend
// cannot inject: its kind is missing, or a feature that the fault needs.
func (a Ability) Refuse(p Plan) error {
	for i := range p {
		action := p[i].Action
		refused := &RefusedError{Backend: a.Name, Fault: i + 1, Kind: action.Kind()}
		if !a.can(action) {
			return refused
		}
		if missing := a.missing(action); missing != "" {
			refused.Feature = missing
			return refused
		}
	}
	return nil
}

// can reports whether the backend can inject the kind of an action.
func (a Ability) can(action Action) bool { return slices.Contains(a.Kinds, action.Kind()) }

// missing returns the first feature that an action needs and the backend lacks, or "".
func (a Ability) missing(action Action) Feature {
	for _, f := range featuresOf(action) {
		if !slices.Contains(a.Features, f) {
			return f
		}
	}
	return ""
}

// whyImpossible returns an error if a kind of fault cannot be injected in a setting.
func (a Ability) whyImpossible(action Action, s Setting) error {
	if !a.can(action) {
		return fmt.Errorf("the %s backend cannot carry out %s", a.Name, action.Kind().one())
	}
	if err := unmetRequirement(action, s); err != nil {
		return fmt.Errorf("%s is impossible here: %w", action.Kind().one(), err)
	}
	return nil
}

// RefusedError says that a backend cannot carry out a plan.
type RefusedError struct {
	Backend string
	Fault   int // its number in the plan, from 1
	Kind    Kind
	Feature Feature // that the backend lacks; "" if it lacks the kind
}

func (e *RefusedError) Error() string {
	what := e.Kind.one()
	if e.Feature != "" {
		what += fmt.Sprintf(" with %q", e.Feature)
	}
	return fmt.Sprintf("the %s backend cannot carry out fault %d of the plan, %s", e.Backend, e.Fault, what)
}

// Feature is an option that only some faults of a kind use. A backend may support
// the kind without the feature. It is written as in a plan, as in "first: timers".
type Feature string

// featureUser is implemented by actions that may need features.
type featureUser interface{ features() []Feature }

// featuresOf returns the features that an action needs.
func featuresOf(a Action) []Feature {
	if d, ok := a.(featureUser); ok {
		return d.features()
	}
	return nil
}
