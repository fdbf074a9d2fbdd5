package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// MutexInput is one operation on [Mutex], [OwnedMutex] or [FencedMutex]: an
// acquire or a release that succeeded, or may have.
type MutexInput struct {
	Release bool   // a release; otherwise an acquire
	Owner   string // who calls; [Mutex] pays no heed to it, elsewhere it must not be empty
	Fence   int64  // that an acquire was given, above 0; 0 if none is known
}

// Mutex specifies a lock that knows no owner: whoever releases it, it is free.
// It is free at first. Its state is whether it is held.
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
