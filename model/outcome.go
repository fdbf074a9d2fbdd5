package model

// Outcome is the output of an operation on [Mutex], [OwnedMutex],
// [FencedMutex] and [Register].
//
// An operation whose outcome is unknown may have taken effect at any time after
// its call, or not at all. It runs until after the last operation of the
// history, and does what it can where it is put: put last, it has had no effect
// that anybody saw. So these models are deterministic all the same.
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
