package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// FencedInput is one access to a [FencedRegister], with the fence that it
// shows.
type FencedInput struct {
	Resource string
	Fence    uint64
	Write    bool
	Wrote    int64 // by a write
}

// FencedOutput is the answer to an access.
type FencedOutput struct {
	Read     int64 // by a read that was accepted
	Declined bool
	Unknown  bool // there was no answer: the access may have arrived, or not at all
}

// Fenced is the state of a [FencedRegister].
type Fenced struct {
	Value   int64
	Highest uint64 // fence seen
}

// FencedRegister specifies a register, initially 0, that declines every read
// and every write whose fence is below the highest that it has seen, and no
// others (Kleppmann, "How to do distributed locking", 2016, has it check
// writes; reads must be checked too, or an update can be lost).
//
// An access is an operation over [call, return]; one with an unknown outcome
// runs until after the last operation of the history. If every section has a
// fence of its own, no history of this register breaks [GuardedRegister]: what
// comes between a section's read and its write has a higher fence, and the
// write is declined. The converse is not so, for declining without need
// breaks this specification alone.
var FencedRegister = porcupine.NondeterministicModel{
	Partition:         byKey(func(input any) string { return input.(FencedInput).Resource }),
	Init:              func() []any { return []any{Fenced{}} },
	Step:              stepFenced,
	DescribeOperation: func(input, output any) string { return describeFenced(input.(FencedInput), output.(FencedOutput)) },
}

func stepFenced(state, input, output any) []any {
	before, in, out := state.(Fenced), input.(FencedInput), output.(FencedOutput)
	after, accepted := before.take(in)
	var next []any
	switch {
	case out.Unknown:
		next = append(next, before)
		if accepted {
			next = append(next, after)
		}
	case out.Declined != accepted && (in.Write || out.Declined || out.Read == before.Value):
		next = append(next, after)
	}
	return next
}

// take returns the state after an access has arrived, and whether it was
// accepted.
func (f Fenced) take(in FencedInput) (Fenced, bool) {
	if in.Fence < f.Highest {
		return f, false
	}
	f.Highest = in.Fence
	if in.Write {
		f.Value = in.Wrote
	}
	return f, true
}

func describeFenced(in FencedInput, out FencedOutput) string {
	s := fmt.Sprintf("%s, fence %d: read %d", in.Resource, in.Fence, out.Read)
	switch {
	case in.Write:
		s = fmt.Sprintf("%s, fence %d: wrote %d", in.Resource, in.Fence, in.Wrote)
	case out.Declined || out.Unknown:
		s = fmt.Sprintf("%s, fence %d: read", in.Resource, in.Fence)
	}
	switch {
	case out.Unknown:
		s += " (perhaps)"
	case out.Declined:
		s += " (declined)"
	}
	return s
}
