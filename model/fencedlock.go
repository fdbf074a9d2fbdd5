package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// FencedInput is the input of an operation on [FencedLock]: that of a lease lock, and the
// fence of the grant that an [Acquire] or a [Touch] is. Operations have no output.
type FencedInput struct {
	LeaseInput
	Fence uint64 // 0: the grant bears none, and nothing is asked of it
}

// FencedState is the state of a [FencedLock].
type FencedState struct {
	Holder string // "" while the lock is free
	Fence  uint64 // the highest so far
}

// FencedLock specifies a lock whose holds end by themselves, and whose fences grow from
// grant to grant. A history becomes operations as for [LeaseLock].
var FencedLock = porcupine.Model{
	Partition:         byKey(func(input any) string { return input.(FencedInput).Resource }),
	Init:              func() any { return FencedState{} },
	Step:              stepFenced,
	DescribeOperation: func(input, _ any) string { return describeFenced(input.(FencedInput)) },
	DescribeState:     func(state any) string { return state.(FencedState).String() },
}

func stepFenced(state, input, _ any) (bool, any) {
	s, in := state.(FencedState), input.(FencedInput)
	free, holder := stepLease(s.Holder, in.LeaseInput, nil)
	if !free || in.Step != End && in.Fence != 0 && in.Fence <= s.Fence {
		return false, s
	}
	return true, FencedState{Holder: holder.(string), Fence: max(s.Fence, in.Fence)}
}

func describeFenced(in FencedInput) string {
	if in.Fence == 0 {
		return describeLease(in.LeaseInput)
	}
	return fmt.Sprintf("%s, fence %d", describeLease(in.LeaseInput), in.Fence)
}

func (s FencedState) String() string {
	return fmt.Sprintf("%s, fence %d", describeHolder(s.Holder), s.Fence)
}
