package external

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Judgment is the result of a run compared with the promises.
type Judgment struct {
	Broken []checker.Finding // promised under the plan and violated
	Open   []checker.Finding // promised under the plan and undecided
	Limits []Limit

	// Slow says that a promise is open because the machine was too slow for it, and may be decided by another run.
	Slow bool

	promised bool // something is promised
	covered  bool // something is promised under the plan
	decided  bool // something that is promised under the plan is decided
	blind    bool // keys are not known
}

// Limit is a violation of a property that is not promised under the plan.
type Limit struct {
	checker.Finding
	Why string // it is not promised, as a clause

	unasked bool // the plan excuses nothing: the property is only not among the promises
}

// harmless is what loses no message, cancels no call and kills nobody. Under such faults any lock can
// clean up. Narrows is no part of it, because messages queue without a bound. A lock can also clean up if the
// caller's context ends while it works: see [endsWork].
const harmless = nemesis.StopsClient | nemesis.StopsNode | nemesis.Delays | nemesis.DelaysAccess | nemesis.Draws |
	nemesis.StepsClock | nemesis.WandersClock | nemesis.FreezesWall | nemesis.SettlesClock

// promisedBy returns the properties whose violation is a failure: the ones that are named, or if that is
// nil those that a lock with these capabilities is expected to have under a plan. keys says whether the
// nodes' keys are known.
func promisedBy(named []checker.Property, t Capabilities, done scenarios.Scenario, keys bool) []checker.Property {
	if named != nil {
		return named
	}
	list := []checker.Property{checker.Lease, checker.DeadlockFreedom, checker.Contract}
	harms := func(f nemesis.Fault) bool { return nemesis.Plan{f}.Does(^harmless) && !endsWork(f, done) }
	if keys {
		list = append(list, checker.Backing)
	}
	if keys && !slices.ContainsFunc(done.Plan, harms) {
		list = append(list, checker.Cleanup)
	}
	if t.Tells {
		list = append(list, checker.Section)
	}
	if t.Fences {
		list = append(list, checker.Fence)
	}
	return list
}

// endsWork reports whether all that a fault does is to end the context of a caller while it works under
// the lock. It releases with another context.
func endsWork(f nemesis.Fault, s scenarios.Scenario) bool {
	c, is := f.Action.(*nemesis.Cancel)
	granted := nemesis.StepName(env.StepGranted.String())
	return is && f.Start.Step == granted && f.Start.Client == c.Client && f.Start.Plus < s.Clients[c.Client-1].Work.Min
}

// errNotPromised is why a violation is no failure.
var errNotPromised = errors.New("it is not among the promises")

// Beyond returns why a property is not promised of any lock with these capabilities under the plan
// that was carried out. nil means that it is, and that a lock that violates it has a defect.
func Beyond(r runner.Result, t Capabilities, p checker.Property) error {
	done := r.Executed()
	return promises.OfExternal(done, t.Endless).Excuse(p, done)
}

// KeysKnown reports whether it is known whose the keys are that a watch has recorded. Nobody can tell if the lock gives
// all its keys the same value, keeps a hash, or the watch was late.
func KeysKnown(r runner.Result) bool {
	return r.Report.Finding(checker.Cleanup).Verdict != checker.Unknown
}

// Judge compares the findings of a run with what is promised under its plan: the named properties or, if
// that is nil, those that a lock with these capabilities is expected to have. keys says whether the keys of the
// run are known.
func Judge(r runner.Result, t Capabilities, named []checker.Property, keys bool) (j Judgment) {
	done := r.Executed()
	terms, promised := promises.OfExternal(done, t.Endless), promisedBy(named, t, done, keys)
	j.promised, j.blind = len(promised) > 0, !keys
	for _, f := range r.Report.Findings {
		excuse := terms.Excuse(f.Property, done)
		why := excuse
		if why == nil && !slices.Contains(promised, f.Property) {
			why = errNotPromised
		}
		if why == nil {
			j.covered = true
			j.decided = j.decided || !r.Slipped() && (f.Verdict == checker.Holds || f.Verdict == checker.Violated)
		}
		switch {
		case r.Slipped() && why == nil && f.Verdict != checker.NotApplicable:
			j.Open = append(j.Open, checker.Finding{
				Property: f.Property, Verdict: checker.Unknown, Where: f.Where,
				Undecided: fmt.Sprintf("the machine was too slow for the plan: events were up to %v late; allowed: %v", r.SchedulingLag, done.SlipLimit()),
			})
		case r.Slipped():
		case f.Verdict == checker.Violated && why == nil && stoppedLate(r, t, f.Property):
			j.Slow = true
			j.Open = append(j.Open, checker.Finding{
				Property: f.Property, Verdict: checker.Unknown, Where: f.Where,
				Undecided: fmt.Sprintf("the lock does not report a loss, so that clients stop %v before the end of a hold, and the machine was up to %v late", claimMargin(done.Lock.TTL), r.SchedulingLag),
			})
		case f.Verdict == checker.Violated && why == nil:
			j.Broken = append(j.Broken, f)
		case f.Verdict == checker.Violated:
			j.Limits = append(j.Limits, Limit{f, promises.Reason(why), excuse == nil && !stoppedLate(r, t, f.Property)})
		case f.Verdict == checker.Unknown && why == nil:
			j.Open = append(j.Open, f)
		case f.Property == checker.Cleanup && !keys && why == nil:
			j.Open = append(j.Open, f) // keys were not recorded
		}
	}
	for _, f := range j.Broken {
		// Whatever else is violated follows from names that are confused, and a wait from a release that did nothing.
		if f.Duty == checker.SeparatesNames || f.Duty == checker.TellsTheTruth && j.Broken[0].Property == checker.DeadlockFreedom {
			return j.StartingWith(f.Property)
		}
	}
	return j
}

// stoppedLate reports whether a client may have worked beyond the end of its hold because the machine woke it late. The
// lock does not tell, so to stop in time is the client's task. It may be late twice: when it wakes, and when it says
// that it has stopped.
func stoppedLate(r runner.Result, t Capabilities, p checker.Property) bool {
	claimed := slices.ContainsFunc(r.Scenario.Clients, func(c scenarios.Client) bool { return c.Claimed })
	return (p == checker.Section || p == checker.Effect) && claimed && !t.Tells && r.SchedulingLag > claimMargin(r.Scenario.Lock.TTL)/2
}

// Stored is the judgment as it is stored with the run.
func (j Judgment) Stored() *runner.Judged {
	var s runner.Judged
	for _, f := range j.Broken {
		s.Failed = append(s.Failed, f.Property)
	}
	for _, l := range j.Limits {
		s.Limits = append(s.Limits, runner.Limit{Property: l.Property, Why: l.Why})
	}
	return &s
}

// StartingWith returns the judgment with the violation of a property as the first one.
func (j Judgment) StartingWith(p checker.Property) Judgment {
	i := slices.IndexFunc(j.Broken, func(f checker.Finding) bool { return f.Property == p })
	j.Broken = slices.Concat(j.Broken[i:i+1], j.Broken[:i], j.Broken[i+1:])
	return j
}

// Named returns a property's code and title.
func Named(p checker.Property) string { return fmt.Sprintf("%s (%s)", p.Code(), p.Title()) }
