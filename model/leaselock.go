package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// LeaseStep is what one operation does to a lease lock.
type LeaseStep uint8

// The steps.
const (
	// Acquire takes the lock. It needs it free.
	Acquire LeaseStep = iota + 1
	// End gives it up again: by release, by the news of a loss, by the end
	// of validity. It needs the lock held by the same holder.
	End
	// Touch takes the lock and gives it up at once. It needs it free.
	Touch
)

func (s LeaseStep) String() string {
	switch s {
	case Acquire:
		return "acquire"
	case End:
		return "end"
	case Touch:
		return "touch"
	}
	return fmt.Sprintf("LeaseStep(%d)", uint8(s))
}

// LeaseInput is the input of an operation on [LeaseLock]. Holder names one
// client's hold and must not be empty. Operations have no output.
type LeaseInput struct {
	Step     LeaseStep
	Resource string
	Holder   string
}

// LeaseLock specifies a lock whose holds end by themselves. Its state is the
// holder, or "" while the lock is free.
//
// A history of grants becomes operations as follows. A grant whose window is
// not empty is an [Acquire] over [call, return] and, if the window ends, an
// [End] at the single point of its end. A grant whose window is empty is one
// [Touch] over [max(call, window end), return]. Refused and unknown tries are
// no operations. Porcupine takes intervals as closed, so that two that touch
// are concurrent, which is what half-open windows need.
var LeaseLock = porcupine.Model{
	Partition:         byKey(func(input any) string { return input.(LeaseInput).Resource }),
	Init:              func() any { return "" },
	Step:              stepLease,
	DescribeOperation: func(input, _ any) string { return describeLease(input.(LeaseInput)) },
	DescribeState:     func(state any) string { return describeHolder(state.(string)) },
}

func stepLease(state, input, _ any) (bool, any) {
	holder, in := state.(string), input.(LeaseInput)
	switch in.Step {
	case Acquire:
		return holder == "", in.Holder
	case End:
		return holder == in.Holder, ""
	case Touch:
		return holder == "", ""
	}
	panic("model: " + in.Step.String())
}

func describeLease(in LeaseInput) string {
	return fmt.Sprintf("%s: %s %s", in.Holder, in.Step, in.Resource)
}

func describeHolder(holder string) string {
	if holder == "" {
		return "free"
	}
	return "held by " + holder
}
