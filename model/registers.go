package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// IncrementInput is one increment of a [Counter].
type IncrementInput struct{ Resource string }

// IncrementOutput is the value that the increment read.
type IncrementOutput struct {
	Found   int64
	Unknown bool // it may have been applied, or not at all
}

// Counter specifies a number, initially 0, whose increments run one after
// another: each reads the number of increments before it.
//
// A section that reads n and writes n+1 is an increment, over the time that
// [GuardedRegister] defines.
var Counter = porcupine.NondeterministicModel{
	Partition: byKey(func(input any) string { return input.(IncrementInput).Resource }),
	Init:      func() []any { return []any{int64(0)} },
	Step:      stepCounter,
	DescribeOperation: func(input, output any) string {
		return describeIncrement(input.(IncrementInput), output.(IncrementOutput))
	},
}

func stepCounter(state, _, output any) []any {
	n, out := state.(int64), output.(IncrementOutput)
	var next []any
	if out.Found == n {
		next = append(next, n+1)
	}
	if out.Unknown {
		next = append(next, n)
	}
	return next
}

func describeIncrement(in IncrementInput, out IncrementOutput) string {
	s := fmt.Sprintf("%s: found %d, one more", in.Resource, out.Found)
	if out.Unknown {
		s += " (perhaps)"
	}
	return s
}

// SectionInput is one section on [GuardedRegister]: a read of the value Read
// and a write of the value Wrote, as one step.
type SectionInput struct {
	Resource string
	Blind    bool // the section did not read: Read says nothing
	Read     int64
	Wrote    int64
}

// SectionOutput says whether the section's write is certain.
type SectionOutput struct {
	Unknown bool // it may have been applied, or not at all
}

// GuardedRegister specifies the resource that a lock guards: a register,
// initially 0, whose accepted sections run one after another.
//
// An accepted section is an operation over [call of the read, return of the
// write]. If its write has an unknown outcome, it lasts until the write was applied
// or, if that is not known, until after the last operation of the history. Sections
// that the register rejected, and reads without a write, are no operations.
var GuardedRegister = porcupine.NondeterministicModel{
	Partition:         byKey(func(input any) string { return input.(SectionInput).Resource }),
	Init:              func() []any { return []any{int64(0)} },
	Step:              stepRegister,
	DescribeOperation: func(input, output any) string { return describeSection(input.(SectionInput), output.(SectionOutput)) },
}

// RegisterFrom is [GuardedRegister] without unknown outcomes and without
// partitions, from another initial value: a cheaper deterministic model for
// one resource.
func RegisterFrom(initial int64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			in := input.(SectionInput)
			return in.fits(state.(int64)), in.Wrote
		},
		DescribeOperation: func(input, _ any) string { return describeSection(input.(SectionInput), SectionOutput{}) },
	}
}

func (s SectionInput) fits(value int64) bool { return s.Blind || s.Read == value }

func stepRegister(state, input, output any) []any {
	in := input.(SectionInput)
	var next []any
	if in.fits(state.(int64)) {
		next = append(next, in.Wrote)
	}
	if output.(SectionOutput).Unknown {
		next = append(next, state)
	}
	return next
}

func describeSection(in SectionInput, out SectionOutput) string {
	s := fmt.Sprintf("%s: read %d, wrote %d", in.Resource, in.Read, in.Wrote)
	if in.Blind {
		s = fmt.Sprintf("%s: wrote %d", in.Resource, in.Wrote)
	}
	if out.Unknown {
		s += " (perhaps)"
	}
	return s
}

// FencedAccess is one access to a [FencedRegister], with the fence that it
// presents.
type FencedAccess struct {
	Resource string
	Fence    uint64
	Write    bool
	Wrote    int64 // by a write
}

// FencedAnswer is the answer to an access.
type FencedAnswer struct {
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
// others (Kleppmann, "How to do distributed locking", 2016, makes it check
// writes; reads must be checked too, or an update can be lost).
//
// An access is an operation over [call, return]; one with an unknown outcome
// lasts until after the last operation of the history. If every section has a
// fence of its own, no history of this register breaks [GuardedRegister]: any access
// between a section's read and its write has a higher fence, so that the
// write is declined. The converse does not hold: declining without need
// breaks this specification alone.
var FencedRegister = porcupine.NondeterministicModel{
	Partition:         byKey(func(input any) string { return input.(FencedAccess).Resource }),
	Init:              func() []any { return []any{Fenced{}} },
	Step:              stepFenced,
	DescribeOperation: func(input, output any) string { return describeFenced(input.(FencedAccess), output.(FencedAnswer)) },
}

func stepFenced(state, input, output any) []any {
	before, in, out := state.(Fenced), input.(FencedAccess), output.(FencedAnswer)
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
func (f Fenced) take(in FencedAccess) (Fenced, bool) {
	if in.Fence < f.Highest {
		return f, false
	}
	f.Highest = in.Fence
	if in.Write {
		f.Value = in.Wrote
	}
	return f, true
}

func describeFenced(in FencedAccess, out FencedAnswer) string {
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
