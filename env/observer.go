package env

import (
	"fmt"
	"time"
)

// Step is a named point of a client's work.
type Step uint8

// The steps of an acquisition, in the order in which they come. Those marked
// "call" are the start of an operation, those marked "return" its end.
const (
	// StepAcquire (call): one try to acquire begins. Its token is drawn; no
	// clock has been read.
	StepAcquire Step = iota + 1
	// StepBeforeSend: t0 is read, nothing is sent.
	StepBeforeSend
	// StepReply: the k-th reply has been counted.
	StepReply
	// StepQuorum: the replies make a quorum.
	StepQuorum
	// StepBeforeCheck: the clock for the validity check is about to be read. A
	// lock that draws a fence checks before and after; the replies in between
	// are steps as well.
	StepBeforeCheck
	// StepAfterCheck: the check has passed.
	StepAfterCheck
	// StepQueued: another client holds the lock, and this one waits to be woken. The time until
	// StepWoken is not the lock's own.
	StepQueued
	// StepWoken: the client was notified that it may be its turn.
	StepWoken
	// StepGranted (return): the try succeeds.
	StepGranted
	// StepRefused (return): the try fails.
	StepRefused

	// StepExtend (call): an extension begins.
	StepExtend
	// StepExtended (return): the hold ends later than before.
	StepExtended
	// StepExtendFailed (return): the extension has failed.
	StepExtendFailed

	// StepExpiring: the holder was warned that its validity ends soon, by a margin before the end.
	StepExpiring
	// StepLost: the holder was notified that the lock is lost.
	StepLost

	// StepBeforeRelease (call): a release begins.
	StepBeforeRelease
	// StepReleased (return): the release is over.
	StepReleased

	// StepBeforeRead: the work under the lock is about to read the guarded
	// resource.
	StepBeforeRead
	// StepAfterRead: it has the answer.
	StepAfterRead
	// StepBeforeWrite: it is about to write.
	StepBeforeWrite
	// StepAfterWrite: it has the answer to the write.
	StepAfterWrite

	stepEnd
)

var stepNames = [stepEnd]string{
	StepAcquire:       "acquire",
	StepBeforeSend:    "before-send",
	StepReply:         "reply",
	StepQuorum:        "quorum",
	StepBeforeCheck:   "before-check",
	StepAfterCheck:    "after-check",
	StepQueued:        "queued",
	StepWoken:         "woken",
	StepGranted:       "granted",
	StepRefused:       "refused",
	StepExtend:        "extend",
	StepExtended:      "extended",
	StepExtendFailed:  "extend-failed",
	StepExpiring:      "expiring",
	StepLost:          "lost",
	StepBeforeRelease: "before-release",
	StepReleased:      "released",
	StepBeforeRead:    "before-read",
	StepAfterRead:     "after-read",
	StepBeforeWrite:   "before-write",
	StepAfterWrite:    "after-write",
}

func (s Step) String() string {
	if s == 0 || s >= stepEnd {
		return fmt.Sprintf("Step(%d)", uint8(s))
	}
	return stepNames[s]
}

// ParseStep returns the step of that name.
func ParseStep(name string) (Step, error) {
	for s := Step(1); s < stepEnd; s++ {
		if stepNames[s] == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown step %q", name)
}

// Steps returns all steps, in their order.
func Steps() []Step {
	all := make([]Step, 0, stepEnd-1)
	for s := Step(1); s < stepEnd; s++ {
		all = append(all, s)
	}
	return all
}

// Event is what a lock tells its observer at a step. Fields that say nothing
// at that step are zero.
type Event struct {
	Step     Step
	Resource string
	Token    string

	// TTL is the requested time to live, at StepAcquire, StepBeforeSend, StepGranted and the steps
	// of an extension.
	TTL time.Duration

	// Until is the end of validity on the clock that the lock reads: the end
	// that is aimed at from StepBeforeSend and at StepExtend, the end that
	// holds at StepGranted and StepExtended. [Never]: nothing but a release ends
	// the hold.
	Until Instant

	// Validity is the remaining validity at the validity check, at StepGranted and StepExtended.
	Validity time.Duration

	// Fence is the fence of the hold, at StepGranted; 0 means none.
	Fence uint64

	// Weight is the number of permits that the hold takes, at StepGranted, and the most that the try takes, at
	// StepAcquire; 0 means all of them.
	Weight int

	// Op is the operation, Reply the reply as it was counted, and K its position in the round, from
	// 1, at StepReply. If a node gets one request after another, K is the position among the
	// replies to the try and then to its hold. Replies after the outcome is clear are no steps.
	Op    Op
	Reply Reply
	K     int

	// Answer is, at StepReleased, whether a quorum said that the lock was
	// still held (Yes), that it was not (No), or neither (Lost).
	Answer Answer

	// Err is why, at StepRefused, StepExtendFailed and StepLost.
	Err error
}

// Observer receives every step, on the goroutine or coroutine that takes it, so possibly several at
// once. In a simulator it may block: a paused client is an observer that does not return. In
// production it must return quickly: the validity runs on, and a watchdog cannot warn meanwhile.
type Observer interface {
	Observe(Event)
}
