package live

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// probeEvery is how long the probe sleeps at a time: a machine that stands still for less
// may go unnoticed, and is no harm to anybody.
const probeEvery = 2 * time.Millisecond

// probe measures by how much this machine is late with what is due, in one run. What goes
// for a goroutine of ours goes for the servers, too: they wait for the same cores.
type probe struct {
	worst atomic.Int64 // ns
}

// slip is the greatest lateness so far.
func (p *probe) slip() time.Duration { return time.Duration(p.worst.Load()) }

// saw takes note that something came so late.
func (p *probe) saw(late time.Duration) {
	for worst := p.worst.Load(); int64(late) > worst; worst = p.worst.Load() {
		if p.worst.CompareAndSwap(worst, int64(late)) {
			return
		}
	}
}

// seldom is how long it sleeps at most where time is virtual.
const seldom = time.Second

// run sleeps on a machine to one instant after the other, and notes how late it wakes,
// until ctx ends. Who wakes to the nanosecond does so in virtual time, in which nothing is
// late, and need not look as often.
func (p *probe) run(ctx context.Context, m env.Runtime) {
	var err error
	every := probeEvery
	for now := m.Now(env.Monotonic); err == nil; {
		due := now.Add(every)
		err = m.Sleep(ctx, due)
		now = m.Now(env.Monotonic)
		p.saw(now.Sub(due)) // also at the end: the machine may have stood still up to there
		if every = min(2*every, seldom); now != due {
			every = probeEvery
		}
	}
}

// SchedulingLag is by how much this machine was late, at most, in the run up to now: with waking
// somebody who does nothing but sleep, and with what the plan had due by the clock.
func (w *World) SchedulingLag() time.Duration { return w.probe.slip() }
