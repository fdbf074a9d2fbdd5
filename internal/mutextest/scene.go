package mutextest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

const ms = time.Millisecond

const (
	// patience bounds the waits for what comes at once.
	patience = 2 * time.Minute
	// hang is a test that gets nowhere: no machine is so busy.
	hang = 10 * time.Minute
)

// scene is what one test plays on.
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
	return &scene{T: t, ctx: ctx, stop: cancel, place: p, key: t.Name(), nodes: p.Connect(t)}
}

// Errorf fails the test and ends its calls: a client may wait for a key that a defect has
// left, and keys live for an hour.
func (s *scene) Errorf(format string, args ...any) {
	s.Helper()
	s.T.Errorf(format, args...)
	s.stop()
}

// Error is as [scene.Errorf].
func (s *scene) Error(args ...any) {
	s.Helper()
	s.T.Error(args...)
	s.stop()
}

// NoGoroutineStays checks that when the test has ended no more goroutines run
// than now.
func NoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		if !comes(func() bool { return runtime.NumGoroutine() <= before }) {
			stacks := make([]byte, 1<<20)
			t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	})
}

// comes waits until something is so, and reports whether that came about.
func comes(about func() bool) bool {
	for end := time.Now().Add(patience); !about(); time.Sleep(ms) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// config is a lock whose keys outlive every test, and that gives no node up that
// is merely slow.
func config() redlock.Config {
	return redlock.Config{
		TTL: time.Hour, DriftFactor: 0.01, Margin: time.Minute,
		NodeTimeout: patience, Linger: patience,
		RetryMax: 10 * ms,
	}
}

// client returns the mutex of one more client.
func (s *scene) client(c redlock.Config, o env.Observer) *redlock.Mutex {
	s.Helper()
	m, err := redlock.New(c, env.System(), s.place.Connect(s.T), o)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { s.close(m) })
	return m
}

// close closes a mutex, after which nothing that it has sent is under way.
func (s *scene) close(m *redlock.Mutex) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Close(ctx); err != nil {
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

// every is what the nodes hold when all hold the same.
func (s *scene) every(token string) []string { return s.first(s.nodes.Len(), token, "") }

// first is what they hold when the first n hold one thing and the rest another.
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

// wantHeld checks what the nodes hold now: for use when nothing is under way.
func (s *scene) wantHeld(key string, want []string) {
	s.Helper()
	if got := s.held(key); !slices.Equal(got, want) {
		s.Errorf("the nodes hold %q, want %q", got, want)
	}
}

// comeToHold waits for the nodes to hold it.
func (s *scene) comeToHold(key string, want []string) {
	s.Helper()
	if !comes(func() bool { return slices.Equal(s.held(key), want) }) {
		s.Errorf("the nodes hold %q even now, want %q", s.held(key), want)
	}
}

// comeToLive waits for the scene's key to live for longer than least on every
// node, and checks that it does not for longer than most.
func (s *scene) comeToLive(least, most time.Duration) {
	s.Helper()
	for n := 1; n <= s.nodes.Len(); n++ {
		var life time.Duration
		if !comes(func() bool { _, life = s.place.Look(s.T, n, s.key); return life > least }) || life > most {
			s.Errorf("on node %d the key lives for %v, want more than %v and no more than %v", n, life, least, most)
		}
	}
}

// stranger is a token that no client draws.
const stranger = "somebody else's"

// occupy makes the first nodes hold the key under another's token, and returns
// how many they are: as few as make a quorum.
func (s *scene) occupy() int {
	s.Helper()
	n := redlock.Quorum(s.nodes.Len())
	s.must(env.AllNodes(n), env.Command{Op: env.OpSet, Key: s.key, Token: stranger, TTL: time.Hour})
	return n
}

// forget makes the first nodes forget the key of a hold, as a restart would, and
// returns how many they are: as few as make a quorum.
func (s *scene) forget(h *redlock.Hold) int {
	s.Helper()
	n := redlock.Quorum(s.nodes.Len())
	s.must(env.AllNodes(n), env.Command{Op: env.OpDelete, Key: s.key, Token: h.Token()})
	return n
}

// must sends a command to nodes of which none may decline.
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
