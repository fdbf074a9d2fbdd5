//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/mutextest"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// aeon is a time limit that never comes while a test goes on: what returns has
// not waited for it.
const aeon = time.Hour

// A node in trouble costs nothing while a quorum is in good health, whatever the
// trouble is: the node timeout is an hour.
func TestOneNodeInTrouble(t *testing.T) {
	for _, c := range eachWay(troubles) {
		t.Run(c.name, func(t *testing.T) {
			var err error
			for _, timeout := range c.patientTimeouts() {
				if err = newWard(t, c, 1).holdsTheLock(timeout); err == nil {
					return
				}
				t.Logf("with a node timeout of %v: %v", timeout, err)
			}
			t.Error(err)
		})
	}
}

// holdsTheLock acquires, extends and releases a lock.
func (w *ward) holdsTheLock(nodeTimeout time.Duration) error {
	h, err := w.mutex(nodeTimeout).TryLock(w.ctx, "key")
	if err != nil {
		return err
	}
	return errors.Join(h.Extend(w.ctx, 2*aeon), h.Release(w.ctx))
}

// patientTimeouts are node timeouts that nobody has to wait for. Where answers are lost Close
// does, so as to delete once more what may be set late: a busy machine gets more time only if
// it needs that.
func (t trouble) patientTimeouts() []time.Duration {
	if t.answer == env.Lost {
		return []time.Duration{time.Second, 10 * time.Second, time.Minute}
	}
	return []time.Duration{aeon}
}

// Where a quorum is in trouble the try fails, and says what ails each node: at
// once if that is known, and otherwise after the node timeout. Nothing else
// would end it: a request is given up after an hour, and so is a dial.
func TestTwoNodesInTrouble(t *testing.T) {
	for _, c := range eachWay(troubles) {
		t.Run(c.name, func(t *testing.T) {
			w := newWard(t, c, 2)
			timeout := c.patientTimeouts()[0]
			if c.silent() {
				timeout = 50 * time.Millisecond
			}
			_, err := w.mutex(timeout).TryLock(w.ctx, "key")
			w.wantDiagnosis(err)
			w.wantNoKey()
		})
	}
}

// eachWay are the same troubles with requests that go out together, and with requests
// that each have a connection to themselves.
func eachWay(troubles []trouble) (all []trouble) {
	for _, c := range troubles {
		all = append(all, c)
		c.name += ", each alone"
		c.options.MaxInFlight = math.MaxInt
		all = append(all, c)
	}
	return all
}

// ward is three nodes of which the first are in trouble.
type ward struct {
	*bench
	trouble
	ctx   context.Context // ends what hangs
	addrs []string
	ill   int
}

func newWard(t *testing.T, c trouble, ill int) *ward {
	t.Helper()
	mutextest.NoGoroutineStays(t)
	w := &ward{bench: newBench(t, 4, redisnode.Options{}), trouble: c, ill: ill} // the fourth is no node, but the master of two
	if c.prepare != nil {
		c.prepare(w.bench)
	}
	w.addrs = w.bench.addrs()[:3]
	for n := 1; n <= ill; n++ {
		w.addrs[n-1] = c.strike(w.bench, n)
	}
	w.nodes = w.connect(w.addrs, c.options)
	if c.busy {
		w.nodes.Send(env.AllNodes(ill), set("somebody else", aeon), env.Never)
	}
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return w
}

func (w *ward) mutex(nodeTimeout time.Duration) *redlock.Mutex {
	w.Helper()
	c := redlock.Config{TTL: aeon, NodeTimeout: nodeTimeout, Linger: nodeTimeout}
	if w.silent() {
		c.Linger = aeon
	}
	m, err := redlock.New(c, env.System(), punctual{w.nodes, w.T, nodeTimeout}, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if w.silent() {
			w.nodes.Close() // or the mutex would hear them out
		}
		if err := m.Close(ctx); err != nil {
			w.Errorf("close: %v", err)
		}
	})
	return m
}

// wantDiagnosis checks that the error of a try tells of each node what ails it.
func (w *ward) wantDiagnosis(err error) {
	w.Helper()
	var q *redlock.QuorumError
	if !errors.Is(err, redlock.ErrNoQuorum) || !errors.As(err, &q) || len(q.Replies) != w.nodes.Len() {
		w.Fatalf("got %v", err)
	}
	for i, r := range q.Replies {
		switch {
		case i >= w.ill:
			if r.Answer != env.Yes && r.Answer != 0 || r.Err != nil {
				w.Errorf("of node %d, which is in good health: %+v", i+1, r)
			}
		case r.Node != i+1 || r.Answer != w.answer:
			w.Errorf("of node %d: %+v, want answer %v", i+1, r, w.answer)
		case !w.silent() && (!strings.Contains(r.Err.Error(), w.reason) || !strings.Contains(r.Err.Error(), w.addrs[i])):
			w.Errorf("of node %d: %v, want its address and the reason %q", r.Node, r.Err, w.reason)
		}
	}
}

// wantNoKey waits until no node in good health has the key.
func (w *ward) wantNoKey() {
	w.Helper()
	for n := w.ill + 1; n <= w.nodes.Len(); n++ {
		for end := time.Now().Add(patience); w.plain[n-1].Exists(w.ctx, "key").Val() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				w.Errorf("node %d keeps the key", n)
				break
			}
		}
	}
}
