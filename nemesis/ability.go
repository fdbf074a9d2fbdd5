package nemesis

import (
	"fmt"
	"slices"
)

// Ability is what the worlds of a backend can carry out.
type Ability struct {
	// Name is what a user calls the backend.
	Name string

	// Kinds lists the kinds of faults that they can.
	Kinds []Kind

	// Features lists what they can of that which only some faults of a kind ask
	// for.
	Features []Feature
}

// Refuse returns a [RefusedError] that names the first fault of the plan whose
// kind is not among those that the backend can carry out, or that asks for a
// feature that it does not have.
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

// can reports whether the kind of an action can be carried out.
func (a Ability) can(action Action) bool { return slices.Contains(a.Kinds, action.Kind()) }

// missing returns the first feature that an action asks for and that is not there; empty:
// all are.
func (a Ability) missing(action Action) Feature {
	for _, f := range featuresOf(action) {
		if !slices.Contains(a.Features, f) {
			return f
		}
	}
	return ""
}

// impossible says why a kind of fault cannot be carried out in a setting, if it
// cannot.
func (a Ability) whyImpossible(action Action, s Setting) error {
	if !a.can(action) {
		return fmt.Errorf("the %s backend cannot carry out %s", a.Name, action.Kind().one())
	}
	if err := unmetRequirement(action, s); err != nil {
		return fmt.Errorf("%s is impossible here: %w", action.Kind().one(), err)
	}
	return nil
}

// RefusedError is a plan that a backend cannot carry out.
type RefusedError struct {
	Backend string
	Fault   int // its number in the plan, from 1
	Kind    Kind
	Feature Feature // that the backend does not have; empty: it is the kind that it cannot
}

func (e *RefusedError) Error() string {
	what := e.Kind.one()
	if e.Feature != "" {
		what += fmt.Sprintf(" with %q", e.Feature)
	}
	return fmt.Sprintf("the %s backend cannot carry out fault %d of the plan, %s", e.Backend, e.Fault, what)
}

// Feature is something that some faults of a kind ask for beyond what the kind
// always does. A backend may carry out the kind and not the feature. It is
// written as in a plan, as in "first: timers".
type Feature string

// demanding is implemented by the actions that may ask for features.
type featureUser interface{ features() []Feature }

// featuresOf returns the features that an action asks for, if any.
func featuresOf(a Action) []Feature {
	if d, ok := a.(featureUser); ok {
		return d.features()
	}
	return nil
}
