package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// FencedLockInput is the input of an operation on [FencedLock]: that of a lease lock, and the
// fence of the grant that an [Acquire] or a [Touch] is. Operations have no output.
type FencedLockInput struct {
	LeaseInput
	Fence uint64 // 0: the grant bears none, and nothing is asked of it
}

// FencedLockState is the state of a [FencedLock].
type FencedLockState struct {
	LeaseState
	Fence uint64 // the highest so far
}

// FencedLock specifies a lock whose holds end by themselves, and whose fences grow from
// grant to grant. A history becomes operations as for [LeaseLock].
var FencedLock = porcupine.Model{
	Partition:         byKey(func(input any) string { return input.(FencedLockInput).Resource }),
	Init:              func() any { return FencedLockState{} },
	Step:              stepFencedLock,
	DescribeOperation: func(input, _ any) string { return describeFencedLock(input.(FencedLockInput)) },
	DescribeState:     func(state any) string { return state.(FencedLockState).String() },
}

func stepFencedLock(state, input, _ any) (bool, any) {
	s, in := state.(FencedLockState), input.(FencedLockInput)
	free, next := s.step(in.LeaseInput)
	grant := in.Step == Acquire || in.Step == Touch
	if !free || grant && in.Fence != 0 && in.Fence <= s.Fence {
		return false, s
	}
	return true, FencedLockState{LeaseState: next, Fence: max(s.Fence, in.Fence)}
}

func describeFencedLock(in FencedLockInput) string {
	if in.Fence == 0 {
		return describeLease(in.LeaseInput)
	}
	return fmt.Sprintf("%s, fence %d", describeLease(in.LeaseInput), in.Fence)
}

func (s FencedLockState) String() string {
	return fmt.Sprintf("%s, fence %d", describeHolder(s.Holder), s.Fence)
}
