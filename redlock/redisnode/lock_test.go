//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// servers are real servers as a place for locks.
type servers struct {
	*bench
	options redisnode.Options
}

func newServers(t *testing.T, nodes int, o redisnode.Options) servers {
	t.Helper()
	return servers{newBench(t, nodes, o), o}
}

// Connect connects for as long as t lasts.
func (s servers) Connect(t *testing.T) env.Nodes {
	b := *s.bench
	b.T = t
	return b.connect(b.addrs(), s.options)
}

func (b *bench) addrs() []string {
	var addrs []string
	for n := 1; n <= b.fleet.Len(); n++ {
		addrs = append(addrs, b.fleet.Server(n).Addr())
	}
	return addrs
}

// Requests to a server that stands still arrive late, over several connections and in any order. No
// key remains, whether the lock was granted by the others or refused.
func TestLateRequestsLeaveNoKey(t *testing.T) {
	for _, inFlight := range []int{1, math.MaxInt} {
		lateRequestsLeaveNoKey(t, newServers(t, 3, redisnode.Options{MaxInFlight: inFlight}))
	}
}

func lateRequestsLeaveNoKey(t *testing.T, s servers) {
	for range 5 {
		s.signal(1, syscall.SIGSTOP)
		m := s.mutex(t, patience)
		h, err := m.TryLock(t.Context(), "key")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Errorf("release: %v", err)
		}
		s.resume(1)
		s.closeAndWantNoKey(m)

		s.signal(1, syscall.SIGSTOP)
		s.signal(2, syscall.SIGSTOP)
		m = s.mutex(t, 20*time.Millisecond)
		if _, err := m.TryLock(t.Context(), "key"); !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("try: %v", err)
		}
		s.resume(1, 2)
		s.closeAndWantNoKey(m)
	}
}

// closeAndWantNoKey waits for repeated deletions, which Close does not: those that were not sent
// because the server did not answer.
func (s servers) closeAndWantNoKey(m *redlock.Mutex) {
	s.Helper()
	end := time.Now().Add(patience)
	for n := 1; n <= s.fleet.Len(); n++ {
		for s.plain[n-1].Exists(s.Context(), "key").Val() != 0 {
			if time.Now().After(end) {
				s.Errorf("node %d keeps the key", n)
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	ctx, cancel := context.WithTimeout(s.Context(), 2*patience)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		s.Errorf("close: %v", err)
	}
}

// linger is long enough for replies of every node in the background, and short enough that requests
// which a node rejected, or did not get, are repeated while a test waits.
const linger = 5 * time.Second

// mutex returns a mutex that waits for every node in the background.
func (s servers) mutex(t *testing.T, nodeTimeout time.Duration) *redlock.Mutex {
	t.Helper()
	c := redlock.Config{TTL: aeon, NodeTimeout: nodeTimeout, Linger: linger}
	m, err := redlock.New(c, env.System(), s.Connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// resume lets servers go on, and returns when each has done what it was sent meanwhile: it
// looks at all its connections in turn, and answers a second time in a later one.
func (s servers) resume(nodes ...int) {
	s.Helper()
	for _, n := range nodes {
		s.signal(n, syscall.SIGCONT)
	}
	for _, n := range nodes {
		s.do(n, "PING")
		s.do(n, "PING")
	}
}

// aeon is a time limit that never comes while a test goes on: what returns has
// not waited for it.
const aeon = time.Hour

// A node in trouble costs nothing while a quorum is in good health, whatever the trouble is: the node
// timeout is an hour. When a second node gets into the same trouble, the try fails and gives the reason
// for each node: at once if it is known, otherwise after the node timeout. Nothing else would end it: a
// request expires after an hour, and so does a dial.
func TestNodesInTrouble(t *testing.T) {
	for _, c := range troubles {
		t.Run(c.name, func(t *testing.T) {
			w := newWard(t, c)
			var err error
			for _, timeout := range c.patientTimeouts() {
				if err = w.holdsTheLock(timeout); err == nil {
					break
				}
				t.Logf("with a node timeout of %v: %v", timeout, err)
			}
			if err != nil {
				t.Error(err)
			}
			w.fallIll(2)
			timeout := c.patientTimeouts()[0]
			if c.silent() {
				timeout = 50 * time.Millisecond
			}
			_, err = w.mutex(timeout).TryLock(w.ctx, "another key")
			w.wantDiagnosis(err)
			w.wantNoKey("another key")
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

// patientTimeouts are node timeouts for which nobody has to wait. If replies are lost Close does
// wait, to delete keys that may be set late: a busy machine gets more time only if it needs that.
func (t trouble) patientTimeouts() []time.Duration {
	if t.answer == env.Lost {
		return []time.Duration{time.Second, 10 * time.Second, time.Minute}
	}
	return []time.Duration{aeon}
}

// ward is three nodes of which the first are in trouble.
type ward struct {
	*bench
	trouble
	ctx   context.Context // ends what hangs
	addrs []string
	ill   int
}

func newWard(t *testing.T, c trouble) *ward {
	t.Helper()
	noGoroutineStays(t)
	w := &ward{bench: newBench(t, 4, redisnode.Options{}), trouble: c} // the fourth is no node, but the master of two
	if c.prepare != nil {
		c.prepare(w.bench)
	}
	w.addrs = w.bench.addrs()[:3]
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	w.fallIll(1)
	return w
}

// fallIll brings the trouble on the node after those that have it, and connects to all of them.
func (w *ward) fallIll(node int) {
	w.ill = node
	w.addrs[node-1] = w.strike(w.bench, node)
	w.nodes = w.connect(w.addrs, w.options)
	if w.busy {
		w.nodes.Send(env.AllNodes(node), set("somebody else", aeon), env.Never)
	}
}

func (w *ward) mutex(nodeTimeout time.Duration) *redlock.Mutex {
	w.Helper()
	nodes := w.nodes
	c := redlock.Config{TTL: aeon, NodeTimeout: nodeTimeout, Linger: nodeTimeout}
	if w.silent() {
		c.Linger = aeon
	}
	m, err := redlock.New(c, env.System(), punctual{nodes, w.T, nodeTimeout}, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if w.silent() {
			nodes.Close() // or the mutex would hear them out
		}
		if err := m.Close(ctx); err != nil {
			w.Errorf("close: %v", err)
		}
	})
	return m
}

// wantDiagnosis checks that the error of a try gives the reason for each node.
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
func (w *ward) wantNoKey(key string) {
	w.Helper()
	for n := w.ill + 1; n <= w.nodes.Len(); n++ {
		for end := time.Now().Add(patience); w.plain[n-1].Exists(w.ctx, key).Val() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				w.Errorf("node %d keeps the key", n)
				break
			}
		}
	}
}
