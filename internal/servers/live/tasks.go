package live

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// taskGroup tracks the goroutines of a run.
type taskGroup struct {
	mu      sync.Mutex
	members []*goroutine
	closed  bool
}

type goroutine struct {
	name string
	done chan struct{} // closed when it has ended
}

// start runs f on a goroutine and passes a panic in it to broken. It returns nil
// if the group is closed.
func (g *taskGroup) start(name string, f func(), broken func(error)) *goroutine {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	m := &goroutine{name: name, done: make(chan struct{})}
	g.members = append(g.members, m)
	go func() {
		defer g.leave(m)
		defer func() {
			if p := recover(); p != nil {
				broken(fmt.Errorf("%s: panic: %v\n%s", name, p, debug.Stack()))
			}
		}()
		f()
	}()
	return m
}

func (g *taskGroup) leave(m *goroutine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.members, m)
	g.members = slices.Delete(g.members, i, i+1)
	close(m.done)
}

// wait closes the group and waits until all goroutines have ended. After the
// timeout it returns an error that names those that have not.
func (g *taskGroup) wait(timeout time.Duration) error {
	g.mu.Lock()
	g.closed = true
	members := slices.Clone(g.members)
	g.mu.Unlock()
	late := time.After(timeout)
	for _, m := range members {
		select {
		case <-m.done:
		case <-late:
			return g.unfinished(timeout)
		}
	}
	return nil
}

func (g *taskGroup) unfinished(timeout time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var names []string
	for _, m := range g.members {
		names = append(names, m.name)
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%v after the end of the run these have not ended: %s", timeout, strings.Join(names, "; "))
}

// probeInterval is how long the probe sleeps at a time. Shorter stalls of the machine may
// go unnoticed and do no harm.
const probeInterval = 2 * time.Millisecond

// probe measures how late this machine runs what is due, in one run. The servers wait for
// the same cores as our goroutines.
type probe struct {
	worst atomic.Int64 // ns
}

// max returns the greatest lateness so far.
func (p *probe) max() time.Duration { return time.Duration(p.worst.Load()) }

// observe records a lateness.
func (p *probe) observe(late time.Duration) {
	for worst := p.worst.Load(); int64(late) > worst; worst = p.worst.Load() {
		if p.worst.CompareAndSwap(worst, int64(late)) {
			return
		}
	}
}

// maxProbeInterval is how long the probe sleeps at most in virtual time.
const maxProbeInterval = time.Second

// run sleeps again and again until ctx ends, and records how late it wakes. Waking at
// exactly the right nanosecond means that time is virtual: nothing is late then, and it
// sleeps longer.
func (p *probe) run(ctx context.Context, m env.Runtime) {
	var err error
	every := probeInterval
	for now := m.Now(env.Monotonic); err == nil; {
		due := now.Add(every)
		err = m.Sleep(ctx, due)
		now = m.Now(env.Monotonic)
		p.observe(now.Sub(due)) // also at the end: the machine may have stalled until then
		if every = min(2*every, maxProbeInterval); now != due {
			every = probeInterval
		}
	}
}
