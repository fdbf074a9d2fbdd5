package locktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// lockAdapter makes the user's lock a [runner.Lock].
type lockAdapter struct {
	*external.Adapter
	lock *sharedLock
}

// sharedLock is the user's lock of a client, which callers may share.
type sharedLock struct {
	client  int
	locker  Locker
	cleanup cleanup
	callers int          // that use it
	working atomic.Int64 // those of them that have not made all their rounds
	closed  error        // by the last of these
}

// build makes the lock of one caller. shared has those of the run by client: the first caller of a client
// opens it.
func (tr trial) build(s runner.ClientEnv, u *external.Usage, log io.Writer, shared map[int]*sharedLock) (runner.Lock, error) {
	lock := shared[s.Sharing]
	if lock == nil {
		lock = &sharedLock{client: s.Sharing, cleanup: cleanup{over: make(chan struct{})}}
		var err error
		if lock.locker, err = callBuild(tr.make, Env{Client: s.Sharing, Addrs: tr.Store.addrs(s.Nodes), TTL: tr.TTL, store: tr.Store, runnerEnv: s, cleanup: &lock.cleanup, usage: u, log: log}); err != nil {
			return nil, errors.Join(fmt.Errorf("client %d: %w", s.Sharing, err), lock.cleanup.run(s.Sharing))
		}
		shared[s.Sharing] = lock
	}
	lock.callers++
	lock.working.Add(1)
	user := &userLocker{Locker: lock.locker, client: s.Sharing, extends: tr.Extend > 0, usage: u}
	return &lockAdapter{tr.what().NewAdapter(s, u, user), lock}, nil
}

// CloseEarly runs the user's cleanup functions after the last round of all callers. If that takes too long,
// because the client is paused or its lock hangs, Close waits once more.
func (m *lockAdapter) CloseEarly() {
	if m.lock.working.Add(-1) != 0 {
		return
	}
	err := m.lock.cleanup.run(m.lock.client)
	select {
	case <-m.lock.cleanup.over:
		m.lock.closed = err
	default:
	}
}

// Abandon runs the user's cleanup functions while a call goes on after the run: some client libraries wait for servers
// until they are closed, whatever the call's context says.
func (m *lockAdapter) Abandon() { _ = m.lock.cleanup.run(m.lock.client) }

// Close ends the holds that are left, and then runs the user's cleanup functions if a caller has died, unless
// another caller has not come to that yet.
func (m *lockAdapter) Close() error {
	m.End()
	var err error
	if m.lock.callers--; m.lock.callers == 0 {
		err = errors.Join(m.lock.closed, m.lock.cleanup.run(m.lock.client))
	}
	m.Wait()
	return err
}

// userLocker checks that the grants of the user's lock can be used.
type userLocker struct {
	Locker
	client  int
	extends bool // the workload extends holds
	usage   *external.Usage
}

// Lock implements [external.Locker].
func (u *userLocker) Lock(ctx context.Context, resource string) (external.Hold, error) {
	h, err := u.Locker.Lock(ctx, resource)
	switch {
	case err != nil:
	case h.Release == nil:
		err = u.usage.Misused("client %d: Lock has returned a Hold without Release", u.client)
	case u.extends && h.Extend == nil:
		err = u.usage.Misused("client %d: Config.Extend is set, and Lock has returned a Hold without Extend", u.client)
	}
	return external.Hold(h), err
}

// undialled returns the error of a run in which a client called the lock and did not use Dial, so that
// faults cannot affect it.
func undialled(u *external.Usage) error {
	if client, calls := u.Undialled(); client != 0 {
		return fmt.Errorf("client %d has called Lock %d times without using env.Dial: each client's lock needs its own client of the servers, with env.Dial as its dialer", client, calls)
	}
	return nil
}

// unused returns a hint about nodes that no client connected to, or "".
func unused(nodes []int) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("no client has connected to nodes %v: is Config.Nodes right? The lock is judged as one that needs a majority of the nodes", nodes)
}

// buildTimeout bounds how long the user's function may take.
const buildTimeout = time.Minute

// callBuild calls the user's function.
func callBuild(build func(Env) Locker, e Env) (Locker, error) {
	var locker Locker // read only after the call has returned
	err := callWithin(buildTimeout, "the function that makes the lock", func() error {
		if locker = build(e); locker == nil {
			return errors.New("the function that makes the lock has returned nil")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return locker, nil
}

// callWithin calls a function of the user on its own goroutine, because it may panic, call
// t.Fatal or never return. All of these are errors.
func callWithin(timeout time.Duration, what string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s has ended its goroutine, as t.Fatal does", what)
		defer func() {
			switch p := recover().(type) {
			case nil:
			case buildError:
				err = p.error
			default:
				err = fmt.Errorf("%s panics: %v\n%s", what, p, debug.Stack())
			}
			done <- err
		}()
		err = f()
	}()
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("%s has not returned after %v", what, timeout)
	}
}
