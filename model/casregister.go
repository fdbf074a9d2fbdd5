package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// RegisterStep is what one operation does to a register.
type RegisterStep uint8

// The steps.
const (
	// Read finds the value From.
	Read RegisterStep = iota + 1
	// Write puts the value To.
	Write
	// CompareAndSet finds the value From and puts To in its place.
	CompareAndSet
)

// RegisterInput is one operation on [Register]: one that succeeded, or may
// have. Values are compared as text.
type RegisterInput struct {
	Step     RegisterStep
	From, To string
}

// Register specifies one register with compare-and-set that holds initial at
// first. Its state is its value.
func Register(initial string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, output any) (bool, any) {
			legal, next := input.(RegisterInput).apply(state.(string))
			return output.(Outcome).step(legal, state, next)
		},
		DescribeOperation: func(input, output any) string { return output.(Outcome).describe(input.(RegisterInput).String()) },
		DescribeState:     func(state any) string { return state.(string) },
	}
}

func (in RegisterInput) apply(value string) (bool, string) {
	switch in.Step {
	case Read:
		return value == in.From, value
	case Write:
		return true, in.To
	case CompareAndSet:
		return value == in.From, in.To
	}
	panic(fmt.Sprintf("model: register step %d", in.Step))
}

func (in RegisterInput) String() string {
	switch in.Step {
	case Read:
		return "read " + in.From
	case Write:
		return "write " + in.To
	case CompareAndSet:
		return "cas " + in.From + " to " + in.To
	}
	return fmt.Sprintf("RegisterStep(%d)", uint8(in.Step))
}
