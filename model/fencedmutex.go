package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// FencedMutex specifies an [OwnedMutex] whose fences grow: an acquire that is
// given one must be given a higher one than any before. An acquire without a
// fence leaves the highest as it is, as in Jepsen's model.
var FencedMutex = porcupine.Model{
	Init:              func() any { return fencedState{} },
	Step:              stepFencedMutex,
	DescribeOperation: describeMutex,
	DescribeState: func(state any) string {
		s := state.(fencedState)
		return fmt.Sprintf("%s, highest fence %d", describeHolder(s.owner), s.highest)
	},
}

// fencedState is the state of a [FencedMutex].
type fencedState struct {
	owner   string // "" while it is free
	highest int64  // fence so far
}

func stepFencedMutex(state, input, output any) (bool, any) {
	in, was := input.(MutexInput), state.(fencedState)
	legal, owner := in.owned(was.owner)
	next := fencedState{owner, was.highest}
	if !in.Release && in.Fence != 0 {
		legal = legal && in.Fence > was.highest
		next.highest = in.Fence
	}
	return output.(Outcome).step(legal, state, next)
}
