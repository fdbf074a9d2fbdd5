package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// MutexInput is one operation on [Mutex], [OwnedMutex], [FencedMutex], [ReentrantMutex] or
// [Semaphore]: an acquire or a release that succeeded, or may have succeeded.
type MutexInput struct {
	Release bool   // a release; otherwise an acquire
	Owner   string // who calls; [Mutex] pays no heed to it, elsewhere it must not be empty
	Fence   int64  // that an acquire was given, above 0; 0 if none is known
}

// Mutex specifies a lock without an owner: anybody can release it.
// It is initially free. Its state is whether it is held.
var Mutex = porcupine.Model{
	Init: func() any { return false },
	Step: func(state, input, output any) (bool, any) {
		in, held := input.(MutexInput), state.(bool)
		return output.(Outcome).step(in.Release == held, state, !in.Release)
	},
	DescribeOperation: describeMutex,
	DescribeState: func(state any) string {
		if state.(bool) {
			return "held"
		}
		return "free"
	},
}

func describeMutex(input, output any) string {
	in := input.(MutexInput)
	what := "acquire"
	if in.Release {
		what = "release"
	}
	if in.Fence != 0 {
		what += fmt.Sprintf(" with fence %d", in.Fence)
	}
	if in.Owner != "" {
		what = in.Owner + ": " + what
	}
	return output.(Outcome).describe(what)
}

// OwnedMutex specifies a lock that only its owner can release, and that its
// owner cannot acquire twice. Its state is the owner, or "" while the lock is
// free, as initially.
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
// the next owner.
func (in MutexInput) owned(owner string) (bool, string) {
	if in.Release {
		return owner == in.Owner, ""
	}
	return owner == "", in.Owner
}

// FencedMutex specifies an [OwnedMutex] whose fences grow: an acquire with a fence must get a
// higher one than any before. An acquire without a fence leaves the highest as it is, as in
// Jepsen's model.
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

// ReentrantMutex specifies an [OwnedMutex] whose owner can acquire it again, and that is free after
// as many releases.
var ReentrantMutex = porcupine.Model{
	Init: func() any { return reentrantState{} },
	Step: func(state, input, output any) (bool, any) {
		in, s := input.(MutexInput), state.(reentrantState)
		legal, next := s.step(in)
		return output.(Outcome).step(legal, state, next)
	},
	DescribeOperation: describeMutex,
	DescribeState: func(state any) string {
		s := state.(reentrantState)
		return fmt.Sprintf("%s, %d times", describeHolder(s.owner), s.holds)
	},
}

// reentrantState is the state of a [ReentrantMutex].
type reentrantState struct {
	owner string // "" while it is free
	holds int
}

func (s reentrantState) step(in MutexInput) (bool, reentrantState) {
	switch {
	case !in.Release:
		return s.owner == "" || s.owner == in.Owner, reentrantState{in.Owner, s.holds + 1}
	case s.holds > 1:
		return s.owner == in.Owner, reentrantState{s.owner, s.holds - 1}
	}
	return s.owner == in.Owner, reentrantState{}
}

// Semaphore specifies a semaphore with a number of permits. An acquire takes one permit, and a
// release gives back one that its owner holds. Its state is the owners of permits, one per line,
// sorted.
func Semaphore(permits int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			owners := strings.FieldsFunc(state.(string), func(r rune) bool { return r == '\n' })
			legal, next := input.(MutexInput).permit(permits, owners)
			return output.(Outcome).step(legal, state, strings.Join(next, "\n"))
		},
		DescribeOperation: describeMutex,
		DescribeState:     func(state any) string { return describeHolder(strings.ReplaceAll(state.(string), "\n", ", ")) },
	}
}

// permit returns whether the operation is legal while owners hold permits, and the next owners.
func (in MutexInput) permit(permits int, owners []string) (bool, []string) {
	if !in.Release {
		at, _ := slices.BinarySearch(owners, in.Owner)
		return len(owners) < permits, slices.Insert(owners, at, in.Owner)
	}
	at, holds := slices.BinarySearch(owners, in.Owner)
	if !holds {
		return false, owners
	}
	return true, slices.Delete(owners, at, at+1)
}

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
