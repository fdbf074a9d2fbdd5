package nemesis

// Feature is something that some faults of a kind ask for beyond what the kind
// always does. A backend may carry out the kind and not the feature. It is
// written as in a plan, as in "first: timers".
type Feature string

// demanding is implemented by the actions that may ask for features.
type demanding interface{ features() []Feature }

// featuresOf returns the features that an action asks for, if any.
func featuresOf(a Action) []Feature {
	if d, ok := a.(demanding); ok {
		return d.features()
	}
	return nil
}
