package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// LeaseStep is the effect of one operation on a lease lock.
type LeaseStep uint8

// The steps.
const (
	// Acquire takes the lock, which must be free.
	Acquire LeaseStep = iota + 1
	// End gives the lock up: by release, by the notice of a loss, or by the end of validity. The
	// same holder must hold the lock.
	End
	// Touch takes the lock, which must be free, and gives it up at once.
	Touch
	// Renew takes the lock again, by an extension that was granted after the end. The lock must be
	// free, and nobody but the same holder may have acquired it since.
	Renew
	// Claim states that the lock was held until now, by an extension that was granted after the end
	// and whose hold ended in that instant. The lock must be free, and nobody but the same holder
	// may have acquired it since the end.
	Claim
)

func (s LeaseStep) String() string {
	switch s {
	case Acquire:
		return "acquire"
	case End:
		return "end"
	case Touch:
		return "touch"
	case Renew:
		return "renew"
	case Claim:
		return "claim"
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

// LeaseState is the state of a [LeaseLock].
type LeaseState struct {
	Holder string // "" while the lock is free

	// Renewing is the holders that may renew: the one that acquired the lock last, and those that
	// have touched it since, one per line, sorted; "" while nobody has acquired it, and anybody
	// may.
	Renewing string
}

// LeaseLock specifies a lock whose holds end by themselves. Its states are [LeaseState].
//
// A history of grants becomes operations as follows. A grant whose window is
// not empty is an [Acquire] over [call, return] and, if the window ends, an
// [End] at the single point of its end. A grant whose window is empty is one
// [Touch] over [max(call, window end), return]. A window that begins with an extension, granted
// after the hold's last window was over, is a [Renew] in place of an [Acquire], over [call,
// return] of the extension, or, if it is empty, a [Claim] at the single point of that return.
// Refused and unknown tries are no operations. Porcupine's intervals are closed, so that
// two that touch are concurrent, as half-open windows require.
var LeaseLock = porcupine.Model{
	Partition:         byKey(func(input any) string { return input.(LeaseInput).Resource }),
	Init:              func() any { return LeaseState{} },
	Step:              func(state, input, _ any) (bool, any) { return state.(LeaseState).step(input.(LeaseInput)) },
	DescribeOperation: func(input, _ any) string { return describeLease(input.(LeaseInput)) },
	DescribeState:     func(state any) string { return describeHolder(state.(LeaseState).Holder) },
}

func (s LeaseState) step(in LeaseInput) (bool, LeaseState) {
	switch in.Step {
	case Acquire:
		return s.Holder == "", LeaseState{in.Holder, in.Holder}
	case End:
		return s.Holder == in.Holder, LeaseState{"", s.Renewing}
	case Touch:
		return s.Holder == "", LeaseState{"", s.renewingToo(in.Holder)}
	case Renew:
		return s.Holder == "" && s.mayRenew(in.Holder), LeaseState{in.Holder, in.Holder}
	case Claim:
		return s.Holder == "" && s.mayRenew(in.Holder), s
	}
	panic("model: " + in.Step.String())
}

func (s LeaseState) mayRenew(holder string) bool {
	return s.Renewing == "" || s.Renewing == holder || slices.Contains(strings.Split(s.Renewing, "\n"), holder)
}

// renewingToo adds another holder that may renew.
func (s LeaseState) renewingToo(holder string) string {
	if s.mayRenew(holder) {
		return s.Renewing
	}
	all := append(strings.Split(s.Renewing, "\n"), holder)
	slices.Sort(all)
	return strings.Join(all, "\n")
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
