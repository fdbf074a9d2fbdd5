package runner

import (
	"github.com/lockstorm/lockstorm/env"
)

// newDreaming returns a Redlock that counts its validity on a clock which stands still
// while the machine sleeps, though it was asked for one that goes on.
func newDreaming(c redlockSetup, p ports) (Lock, error) {
	p.runtime = dreaming{p.runtime}
	return newRedlock(c, p)
}

type dreaming struct{ env.Runtime }

func (r dreaming) Now(which env.Clock) env.Instant {
	if which == env.Boottime {
		which = env.Monotonic
	}
	return r.Runtime.Now(which)
}

// newHasty returns a Redlock whose validity check uses a time that was read before the
// last reply.
func newHasty(c redlockSetup, p ports) (Lock, error) {
	r := &hasty{Runtime: p.runtime, Observer: p.observer}
	p.runtime, p.observer = r, r
	return newRedlock(c, p)
}

// hasty is a client's runtime, and its observer, for a lock that it uses from one try at a
// time.
type hasty struct {
	env.Runtime
	env.Observer
	early    env.Instant // what the clock showed before the requests were sent
	checking bool
}

func (r *hasty) Observe(e env.Event) {
	r.Observer.Observe(e)
	if r.checking = e.Step == env.StepBeforeCheck; e.Step == env.StepBeforeSend {
		r.early = r.Runtime.Now(env.Monotonic)
	}
}

func (r *hasty) Now(which env.Clock) env.Instant {
	if r.checking {
		return r.early
	}
	return r.Runtime.Now(which)
}
