package model

// Outcome is the output of an operation on [Mutex] and its like.
//
// An operation with an unknown outcome may have taken effect at any time after
// its call, or not at all. It lasts until after the last operation of the
// history, and takes effect where it is placed: placed last, its effect is not observed by anybody.
// So these models are deterministic.
type Outcome struct {
	Unknown bool
}

// step takes an operation from state to next, which it can do if legal.
func (o Outcome) step(legal bool, state, next any) (bool, any) {
	if legal {
		return true, next
	}
	return o.Unknown, state
}

func (o Outcome) describe(operation string) string {
	if o.Unknown {
		return operation + " (perhaps)"
	}
	return operation
}
