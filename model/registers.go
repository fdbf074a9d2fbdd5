package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

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
