package nemesis

import "fmt"

// Feature is something that some faults of a kind ask for beyond what the kind
// always does. A backend may carry out the kind and not the feature. It is
// written as in a plan, as in "first: timers".
type Feature string

// demanding is implemented by the actions that may ask for a feature; an empty
// one asks for none.
type demanding interface{ feature() Feature }

// featureOf returns the feature that an action asks for, if any.
func featureOf(a Action) Feature {
	if d, ok := a.(demanding); ok {
		return d.feature()
	}
	return ""
}

// Refuse returns a [RefusedError] that names the first fault of the plan whose
// kind is not among those that the backend can carry out, or that asks for a
// feature that the backend does not have.
func Refuse(backend string, can []Kind, p Plan, has ...Feature) error {
	able := map[Kind]bool{}
	for _, k := range can {
		able[k] = true
	}
	equipped := map[Feature]bool{"": true}
	for _, f := range has {
		equipped[f] = true
	}
	for i := range p {
		refused := &RefusedError{Backend: backend, Fault: i + 1, Kind: p[i].Action.Kind()}
		if !able[refused.Kind] {
			return refused
		}
		if refused.Feature = featureOf(p[i].Action); !equipped[refused.Feature] {
			return refused
		}
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
