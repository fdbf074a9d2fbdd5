package mutextest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

const ms = time.Millisecond

// The limits are far beyond the usual times, and together below the time limit of go test, which
// would report where goroutines stand and not what the lock did wrong.
var (
	// patience bounds the waits for events that usually come at once.
	patience = 2 * time.Minute
	// hang bounds a whole test: no machine is so busy.
	hang = 4 * time.Minute
	// brief replaces patience in a test that has failed: what a defect has left behind may never
	// end.
	brief = time.Second
)

// scene is the nodes and clients of one test.
type scene struct {
	*testing.T
	ctx   context.Context // ends the calls of a test that has failed, or gets nowhere
	stop  context.CancelFunc
	place Place
	key   string    // a resource that no other test uses
	nodes env.Nodes // to do to keys what no lock would
}

func newScene(t *testing.T, p Place) *scene {
	NoGoroutineStays(t)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	stuck := time.AfterFunc(hang+patience, func() {
		panic(fmt.Sprintf("%s: a call of the lock has not returned %v after its context ended", t.Name(), patience))
	})
	t.Cleanup(func() { stuck.Stop() })
	return &scene{T: t, ctx: ctx, stop: cancel, place: p, key: t.Name(), nodes: p.Connect(t)}
}

// Errorf fails the test and ends its calls: a client may wait for a key that a defect has
// left, and keys live for an hour.
func (s *scene) Errorf(format string, args ...any) {
	s.Helper()
	s.T.Errorf(format, args...)
	s.stop()
}

// Error is like [scene.Errorf].
func (s *scene) Error(args ...any) {
	s.Helper()
	s.T.Error(args...)
	s.stop()
}

// NoGoroutineStays checks that at the end of the test no more goroutines run than now. A test that
// has failed may leave some.
func NoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		if !t.Failed() && !comes(func() bool { return runtime.NumGoroutine() <= before }) {
			stacks := make([]byte, 1<<20)
			t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	})
}

// comes waits until a condition holds, and reports whether it did.
func comes(about func() bool) bool {
	for end := time.Now().Add(patience); !about(); time.Sleep(ms) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// wait waits until a condition holds. If it does not come to hold it ends the test with what
// failure returns. A test that has failed is ended at once.
func (s *scene) wait(about func() bool, failure func() string) {
	s.Helper()
	if s.Failed() {
		s.FailNow()
	}
	if !comes(about) {
		s.Fatalf("even after %v %s", patience, failure())
	}
}

// await waits for a channel to be closed.
func (s *scene) await(what string, closed <-chan struct{}) {
	s.Helper()
	select {
	case <-closed:
	case <-time.After(patience):
		s.Fatalf("even after %v not: %s", patience, what)
	}
}

// config is a lock whose keys outlive every test, and that gives up no slow node.
func config() redlock.Config {
	return redlock.Config{
		TTL: time.Hour, DriftFactor: 0.01, Margin: time.Minute,
		NodeTimeout: patience, Linger: patience,
		RetryMax: 10 * ms,
	}
}

// client returns the mutex of another client.
func (s *scene) client(c redlock.Config, o env.Observer) *redlock.Mutex {
	s.Helper()
	m, err := redlock.New(c, env.System(), s.place.Connect(s.T), o)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { s.close(m) })
	return m
}

// close closes a mutex. Afterwards none of its requests is in progress.
func (s *scene) close(m *redlock.Mutex) {
	s.Helper()
	limit := patience
	if s.Failed() {
		limit = brief
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := m.Close(ctx); err != nil && limit == patience {
		s.Errorf("close: %v", err)
	}
}

// lock acquires the scene's key, and returns when every node holds it.
func (s *scene) lock(m *redlock.Mutex) *redlock.Hold {
	s.Helper()
	h, err := m.Lock(s.ctx, s.key)
	if err != nil {
		s.Fatal(err)
	}
	s.comeToHold(s.key, s.every(h.Token()))
	return h
}

func (s *scene) wantError(what string, got, want error) {
	s.Helper()
	if !errors.Is(got, want) {
		s.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

// every is the expected tokens if all nodes hold the same one.
func (s *scene) every(token string) []string { return s.first(s.nodes.Len(), token, "") }

// first is the expected tokens if the first n nodes hold one token and the rest another.
func (s *scene) first(n int, token, rest string) []string {
	return append(slices.Repeat([]string{token}, n), slices.Repeat([]string{rest}, s.nodes.Len()-n)...)
}

// held returns the tokens that the nodes hold under a key.
func (s *scene) held(key string) []string {
	var tokens []string
	for n := 1; n <= s.nodes.Len(); n++ {
		token, _ := s.place.Look(s.T, n, key)
		tokens = append(tokens, token)
	}
	return tokens
}

// wantHeld checks the tokens of the nodes now, when no request is in progress.
func (s *scene) wantHeld(key string, want []string) {
	s.Helper()
	if got := s.held(key); !slices.Equal(got, want) {
		s.Errorf("the nodes hold %q, want %q", got, want)
	}
}

// comeToHold waits until the nodes hold the tokens.
func (s *scene) comeToHold(key string, want []string) {
	s.Helper()
	s.wait(func() bool { return slices.Equal(s.held(key), want) }, func() string {
		return fmt.Sprintf("the nodes hold %q, want %q", s.held(key), want)
	})
}

// comeToLive waits until the scene's key has a TTL above least on every node, and checks that none
// is above most.
func (s *scene) comeToLive(least, most time.Duration) {
	s.Helper()
	for n := 1; n <= s.nodes.Len(); n++ {
		var life time.Duration
		s.wait(func() bool { _, life = s.place.Look(s.T, n, s.key); return life > least }, func() string {
			return fmt.Sprintf("on node %d the key lives for %v, want more than %v", n, life, least)
		})
		if life > most {
			s.Errorf("on node %d the key lives for %v, want no more than %v", n, life, most)
		}
	}
}

// stranger is a token that no client draws.
const stranger = "somebody else's"

// occupy sets the key under another client's token on the first nodes, as few as make a quorum, and
// returns their number.
func (s *scene) occupy() int {
	s.Helper()
	n := redlock.Quorum(s.nodes.Len())
	s.must(env.AllNodes(n), env.Command{Op: env.OpSet, Key: s.key, Token: stranger, TTL: time.Hour})
	return n
}

// forget deletes the key of a hold on the first nodes, as a restart would, as few as make a quorum,
// and returns their number.
func (s *scene) forget(h *redlock.Hold) int {
	s.Helper()
	n := redlock.Quorum(s.nodes.Len())
	s.must(env.AllNodes(n), env.Command{Op: env.OpDelete, Key: s.key, Token: h.Token()})
	return n
}

// must sends a command that no node may decline.
func (s *scene) must(to env.NodeSet, c env.Command) {
	s.Helper()
	soon := env.System().Now(env.Monotonic).Add(patience)
	r := s.nodes.Send(to, c, soon)
	for range to.Len() {
		if reply, err := r.Next(s.ctx, soon); err != nil || reply.Answer != env.Yes {
			s.Fatalf("%v: %+v, %v", c.Op, reply, err)
		}
	}
}

// A lock puts its token on every node, and a release leaves no key on any.
func lockAndRelease(s *scene) {
	m := s.client(config(), nil)
	h := s.lock(m)
	s.comeToLive(time.Hour/2, time.Hour)
	s.wantError("context", h.Context().Err(), nil)
	s.wantError("release", h.Release(s.ctx), nil)
	s.wantError("cause", context.Cause(h.Context()), redlock.ErrReleased)
	s.wantError("release twice", h.Release(s.ctx), redlock.ErrReleased)
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}

// A try on a taken lock leaves the holder's keys alone, and reports each node's reply.
func taken(s *scene) {
	h := s.lock(s.client(config(), nil))
	other := s.client(config(), nil)
	_, err := other.TryLock(s.ctx, s.key)
	s.wantError("try", err, redlock.ErrTaken)
	s.wantReplies(err, s.nodes.Len())
	s.close(other)
	s.wantHeld(s.key, s.every(h.Token()))
	s.wantError("release", h.Release(s.ctx), nil)
}

// A try that finds a quorum taken leaves no key on the free nodes.
func refused(s *scene) {
	n := s.occupy()
	m := s.client(config(), nil)
	_, err := m.TryLock(s.ctx, s.key)
	s.wantError("try", err, redlock.ErrTaken)
	s.wantReplies(err, n)
	s.close(m)
	s.wantHeld(s.key, s.first(n, stranger, ""))
}

// wantReplies checks that the error of a try names every node in order, where a number of the first
// ones are taken and the rest are free. Nodes that had not replied when the try was decided are
// listed as such.
func (s *scene) wantReplies(err error, taken int) {
	s.Helper()
	var q *redlock.QuorumError
	if !errors.As(err, &q) || len(q.Replies) != s.nodes.Len() {
		s.Fatalf("want a quorum error with %d replies, got %#v", s.nodes.Len(), err)
	}
	declined := 0
	for i, r := range q.Replies {
		want := env.Yes
		if i < taken {
			want = env.No
		}
		if r.Node != i+1 || r.Answer != want && r.Answer != 0 || r.Err != nil {
			s.Errorf("reply %d: %+v, want answer %v of node %d", i, r, want, i+1)
		}
		if r.Answer == env.No {
			declined++
		}
	}
	if s.nodes.Len()-declined >= redlock.Quorum(s.nodes.Len()) {
		s.Errorf("%d of %d nodes declined: that decides nothing", declined, s.nodes.Len())
	}
}

// Lock gives up after so many tries.
func boundedTries(s *scene) {
	n := s.occupy()
	c, tries := config(), new(counter)
	c.Tries = 3
	m := s.client(c, tries)
	_, err := m.Lock(s.ctx, s.key)
	s.wantError("lock", err, redlock.ErrTaken)
	s.close(m)
	if got := tries.of(env.StepAcquire); got != 3 {
		s.Errorf("%d tries", got)
	}
	s.wantHeld(s.key, s.first(n, stranger, ""))
}

// observe is an observer that is a function.
type observe func(env.Event)

func (o observe) Observe(e env.Event) { o(e) }

// counter is an observer that counts steps.
type counter struct {
	mu    sync.Mutex
	steps map[env.Step]int
}

func (c *counter) Observe(e env.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.steps == nil {
		c.steps = map[env.Step]int{}
	}
	c.steps[e.Step]++
}

// of returns the number of occurrences of a step.
func (c *counter) of(s env.Step) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps[s]
}

// Place is independent nodes, with a way to inspect their keys without the lock.
type Place interface {
	// Connect returns the nodes for another client. Every client uses the same nodes. They are
	// closed when the test ends, and then none of their goroutines is left.
	Connect(t *testing.T) env.Nodes

	// Look returns the token that a node, from 1, holds under a key, and its remaining TTL. No key
	// is an empty token.
	Look(t *testing.T, node int, key string) (token string, life time.Duration)
}

// Run runs every test as a subtest. They are not parallel, because each counts the goroutines at
// its end; nothing else may run beside them. After one that has waited in vain the others are left
// out, because the same defect could make each of them wait as long.
func Run(t *testing.T, p Place) {
	for _, b := range []struct {
		name string
		test func(*scene)
	}{
		{"lock and release", lockAndRelease},
		{"taken", taken},
		{"refused", refused},
		{"bounded tries", boundedTries},
		{"exclusion", exclusion},
		{"one hold, many hands", manyHands},
		{"extend", extend},
		{"extend what is lost", extendLost},
		{"release what is lost", releaseLost},
		{"watchdog", watchdog},
		{"watchdog and loss", watchdogLoss},
		{"watchdog and release", watchdogRelease},
		{"with lock", withLock},
		{"lock all or nothing", lockAllOrNothing},
		{"lock all, one ends", lockAllEnds},
		{"lock all in one order", lockAllInOneOrder},
		{"cancelled while waiting", cancelledWhileWaiting},
		{"cancelled in a try", cancelledInATry},
		{"close", closeEndsEverything},
		{"close while extending", closeWhileExtending},
		{"close during calls", closeDuringCalls},
	} {
		began := time.Now()
		if !t.Run(b.name, func(t *testing.T) { b.test(newScene(t, p)) }) && time.Since(began) >= patience {
			t.Logf("the tests after %q are left out", b.name)
			return
		}
	}
}

// Exclusion runs one of the tests alone, for places with faults.
func Exclusion(t *testing.T, p Place) { exclusion(newScene(t, p)) }
