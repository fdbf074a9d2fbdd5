package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// IncrementInput is one increment of a [Counter].
type IncrementInput struct{ Resource string }

// IncrementOutput is what the increment found.
type IncrementOutput struct {
	Found   int64
	Unknown bool // it may have been applied, or not at all
}

// Counter specifies a number, initially 0, whose increments run one after
// another: each finds how many there were before it.
//
// A section that has read n and wrote n+1 is an increment, over the time that
// [GuardedRegister] says.
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
