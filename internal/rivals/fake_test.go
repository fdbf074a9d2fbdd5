package rivals_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
)

// bubble is the runtime of a client in a bubble of testing/synctest.
type bubble struct{}

func (bubble) Now(env.Clock) env.Instant { return env.Instant(time.Now().UnixNano()) }
func (bubble) Random(p []byte)           { _, _ = rand.Read(p) }
func (bubble) Go(_ string, f func()) env.Task {
	t := make(bubbleTask)
	go func() { defer close(t); f() }()
	return t
}

func (b bubble) Sleep(ctx context.Context, until env.Instant) error {
	select {
	case <-time.After(until.Sub(b.Now(env.Monotonic))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type bubbleTask chan struct{}

func (t bubbleTask) Wait(context.Context) error { <-t; return nil }

// store is a store in memory, to which a request takes a millisecond, and a reply as
// long.
type store struct {
	// fault says what happens to a request: it may get lost on the way, or its reply
	// may, or it may take longer. nil: nothing.
	fault func(r env.StoreRequest) fault

	mu       sync.Mutex
	revision uint64
	entries  map[string]env.Entry
	expiry   map[string]time.Time // of rows and of entries that expire
	expires  map[string]bool      // by itself
	delays   map[string]time.Duration
	closed   map[string]time.Time // by a lock-delay, until then
	sessions map[uint64]*storeSession
	asked    map[env.StoreOp]int
}

type storeSession struct {
	ttl   time.Duration
	until time.Time
}

type fault struct {
	lost  error         // the request has no effect
	mute  error         // it has one, and the reply is lost
	delay time.Duration // on its way
	late  time.Duration // of the reply, or of the error
}

func newStore() *store {
	return &store{
		entries: map[string]env.Entry{}, expiry: map[string]time.Time{}, expires: map[string]bool{}, delays: map[string]time.Duration{}, closed: map[string]time.Time{},
		sessions: map[uint64]*storeSession{}, asked: map[env.StoreOp]int{},
	}
}

func (s *store) Ask(ctx context.Context, r env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	var f fault
	s.mu.Lock()
	s.asked[r.Op]++
	if s.fault != nil {
		f = s.fault(r)
	}
	s.mu.Unlock()
	if r.Op == env.StoreAwait && f == (fault{}) {
		return s.await(ctx, r, until)
	}
	effect := make(chan env.StoreReply, 1)
	go func() {
		time.Sleep(ms + f.delay)
		if f.lost == nil {
			effect <- s.apply(r)
		}
	}()
	sleep := func(d time.Duration) error { return bubble{}.Sleep(ctx, env.Instant(time.Now().Add(d).UnixNano())) }
	if err := cmp.Or(f.lost, f.mute); err != nil || f.delay > 0 {
		if err := sleep(min(2*ms+f.late, until.Sub(bubble{}.Now(0)))); err != nil {
			return env.StoreReply{}, err
		}
		return env.StoreReply{}, cmp.Or(err, env.ErrTimeout)
	}
	reply := <-effect
	return reply, sleep(ms + f.late)
}

func (s *store) await(ctx context.Context, r env.StoreRequest, until env.Instant) (env.StoreReply, error) {
	for {
		s.mu.Lock()
		s.expire()
		there := s.entries[r.Key].Revision == r.Revision
		s.mu.Unlock()
		switch now := (bubble{}).Now(0); {
		case !there:
			return env.StoreReply{Done: true}, nil
		case now >= until:
			return env.StoreReply{}, env.ErrTimeout
		}
		if err := (bubble{}).Sleep(ctx, bubble{}.Now(0).Add(ms)); err != nil {
			return env.StoreReply{}, err
		}
	}
}

func (s *store) apply(r env.StoreRequest) (reply env.StoreReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	s.revision++
	switch r.Op {
	case env.StoreOpen:
		s.sessions[s.revision] = &storeSession{r.TTL, time.Now().Add(r.TTL)}
		if r.Kind == env.SessionConnection {
			s.sessions[s.revision].until = time.Now().Add(1000 * time.Hour)
		}
		return env.StoreReply{Done: true, Session: s.revision}
	case env.StoreKeep:
		if session := s.sessions[r.Session]; session != nil {
			session.until, reply.Done = time.Now().Add(session.ttl), true
		}
	case env.StoreClose:
		reply.Done = s.end(r.Session)
	case env.StoreCreate:
		return s.create(r)
	case env.StoreDelete:
		if e, ok := s.entries[r.Key]; ok && (r.Revision == 0 || r.Revision == e.Revision) {
			delete(s.entries, r.Key)
			reply.Done = true
		}
	case env.StoreList:
		reply.Done, reply.Entries = true, s.list(r.Key)
	case env.StoreSweep:
		for _, e := range s.list(r.Key) {
			if x, ok := s.expiry[e.Key]; ok && !s.expires[e.Key] && !time.Now().Before(x) {
				delete(s.entries, e.Key)
			}
		}
		reply.Done = true
	case env.StoreRenew:
		if e, ok := s.entries[r.Key]; ok && r.Revision == e.Revision && s.expires[r.Key] {
			e.Revision = s.revision
			s.entries[r.Key], s.expiry[r.Key] = e, time.Now().Add(r.TTL)
			return env.StoreReply{Done: true, Entries: []env.Entry{e}}
		}
	case env.StoreUpdate:
		e, ok := s.entries[r.Key]
		switch {
		case ok && r.Revision == e.Revision:
			e.Value, e.Revision, reply.Done = r.Value, s.revision, true
			s.entries[r.Key] = e
			fallthrough
		case ok:
			reply.Entries = []env.Entry{e}
		}
	}
	return reply
}

func (s *store) create(r env.StoreRequest) env.StoreReply {
	if r.Sequential {
		r.Key += fmt.Sprintf("%010d", s.revision)
	}
	if e, ok := s.entries[r.Key]; ok {
		return env.StoreReply{Entries: []env.Entry{e}}
	}
	if r.Session != 0 && s.sessions[r.Session] == nil || time.Now().Before(s.closed[r.Key]) {
		return env.StoreReply{}
	}
	e := env.Entry{Key: r.Key, Value: r.Value, Session: r.Session, Revision: s.revision}
	s.entries[r.Key], s.delays[r.Key] = e, r.Delay
	delete(s.expiry, r.Key)
	s.expires[r.Key] = r.Expires
	if r.TTL > 0 {
		s.expiry[r.Key] = time.Now().Add(r.TTL)
	}
	return env.StoreReply{Done: true, Entries: []env.Entry{e}}
}

func (s *store) list(prefix string) (list []env.Entry) {
	for _, e := range s.entries {
		if strings.HasPrefix(e.Key, prefix) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b env.Entry) int { return cmp.Compare(a.Revision, b.Revision) })
	return list
}

// expire ends the sessions that have not been kept, and deletes the entries that expire.
func (s *store) expire() {
	maps.DeleteFunc(s.entries, func(key string, _ env.Entry) bool { return s.expires[key] && !time.Now().Before(s.expiry[key]) })
	for id, session := range s.sessions {
		if !time.Now().Before(session.until) {
			delete(s.sessions, id)
			maps.DeleteFunc(s.entries, func(key string, e env.Entry) bool {
				if e.Session == id {
					s.closed[key] = time.Now().Add(s.delays[key])
				}
				return e.Session == id
			})
		}
	}
}

// end ends a session without a lock-delay, and reports whether there was one.
func (s *store) end(id uint64) bool {
	_, ok := s.sessions[id]
	delete(s.sessions, id)
	maps.DeleteFunc(s.entries, func(_ string, e env.Entry) bool { return ok && e.Session == id })
	return ok
}

// disconnect ends all sessions.
func (s *store) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.sessions {
		s.end(id)
	}
}

// breaks sets fault while the store is in use.
func (s *store) breaks(by func(env.StoreRequest) fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = by
}

// left returns the entries that are there.
func (s *store) left() []env.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	return s.list("")
}

func (s *store) count(op env.StoreOp) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[op]
}

// steps is an observer that keeps its events.
type steps struct {
	mu   sync.Mutex
	list []env.Event
}

func (s *steps) Observe(e env.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, e)
}

func (s *steps) of(step env.Step) (list []env.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.list {
		if e.Step == step {
			list = append(list, e)
		}
	}
	return list
}

// hold and locker are what all locks have in common.
type hold interface {
	Token() string
	Fence() uint64
	Until() env.Instant
	Check() error
	Verify(ctx context.Context, serializable bool) error
	Context() context.Context
	Extend(context.Context, time.Duration) error
	Release(context.Context) error
}

type locker func(ctx context.Context, resource string) (hold, error)

func lockerOf[H hold](lock func(context.Context, string) (H, error)) locker {
	return func(ctx context.Context, resource string) (hold, error) {
		h, err := lock(ctx, resource)
		if err != nil {
			return nil, err
		}
		return h, nil
	}
}

func storeConfig() rivals.Config {
	return rivals.Config{TTL: time.Second, Allowance: 12 * ms, NodeTimeout: 50 * ms, Margin: 20 * ms, RetryMin: 5 * ms, RetryMax: 20 * ms}
}

func sessionConfig() rivals.SessionConfig {
	return rivals.SessionConfig{Config: storeConfig(), Heartbeat: 300 * ms}
}

func chubbyConfig() rivals.ChubbyConfig {
	return rivals.ChubbyConfig{SessionConfig: sessionConfig(), Grace: 2 * time.Second, LockDelay: 500 * ms}
}

// storeLocks are the locks that live in a store.
var storeLocks = map[string]func(rivals.Ports) (locker, error){
	"row":            func(p rivals.Ports) (locker, error) { return made(rivals.NewRow(storeConfig(), p)) },
	"expiring-key":   func(p rivals.Ports) (locker, error) { return made(rivals.NewExpiringKey(storeConfig(), p)) },
	"zookeeper":      func(p rivals.Ports) (locker, error) { return made(rivals.NewZooKeeper(sessionConfig(), p)) },
	"etcd":           func(p rivals.Ports) (locker, error) { return made(rivals.NewEtcd(sessionConfig(), p)) },
	"etcd-unchecked": func(p rivals.Ports) (locker, error) { return made(rivals.NewEtcdUnchecked(sessionConfig(), p)) },
	"chubby":         func(p rivals.Ports) (locker, error) { return made(rivals.NewChubby(chubbyConfig(), p)) },
	"fenced": func(p rivals.Ports) (locker, error) {
		f, err := rivals.NewFenced(rivals.FencedConfig{SessionConfig: sessionConfig(), Entries: 2}, p)
		if err != nil {
			return nil, err
		}
		return lockerOf(f.Lock), nil
	},
}

func made(m *rivals.Mutex, err error) (locker, error) {
	if err != nil {
		return nil, err
	}
	return lockerOf(m.Lock), nil
}

// newLocker returns a client's lock of a name, and what it reports.
func newLocker(t *testing.T, name string, s *store) (locker, *steps) {
	t.Helper()
	heard := &steps{}
	build, own := storeLocks[name]
	if !own {
		build, own = objectLocks[name]
	}
	if !own {
		build = leaseLock
	}
	l, err := build(rivals.Ports{Runtime: bubble{}, Store: s, Observer: heard})
	if err != nil {
		t.Fatal(err)
	}
	return l, heard
}

func mustLock(t *testing.T, l locker) hold {
	t.Helper()
	h, err := l(context.Background(), "r")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustRelease(t *testing.T, h hold) {
	t.Helper()
	if err := h.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
}
