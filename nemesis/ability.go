package nemesis

import (
	"fmt"
	"slices"
)

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
		return fmt.Errorf("the %s backend cannot carry out %s", a.Name, action.Kind().withArticle())
	}
	if err := unmetRequirement(action, s); err != nil {
		return fmt.Errorf("%s is impossible here: %w", action.Kind().withArticle(), err)
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
	what := e.Kind.withArticle()
	if e.Feature != "" {
		what += fmt.Sprintf(" with %q", e.Feature)
	}
	return fmt.Sprintf("the %s backend cannot carry out fault %d of the plan, %s", e.Backend, e.Fault, what)
}
