package model

import "github.com/anishathalye/porcupine"

// OwnedMutex specifies a lock that only its owner can release, and that its
// owner cannot acquire twice. Its state is the owner, or "" while the lock is
// free, as at first.
var OwnedMutex = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		in, owner := input.(MutexInput), state.(string)
		legal, next := in.owned(owner)
		return output.(Outcome).step(legal, state, next)
	},
	DescribeOperation: describeMutex,
	DescribeState:     func(state any) string { return describeHolder(state.(string)) },
}

// owned returns whether the operation is legal while owner holds the lock, and
// who holds it then.
func (in MutexInput) owned(owner string) (bool, string) {
	if in.Release {
		return owner == in.Owner, ""
	}
	return owner == "", in.Owner
}
