//go:build linux

package keywatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/keywatch"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
	"github.com/lockstorm/lockstorm/internal/servertest"
)

// log keeps what a watch records.
type log struct {
	t     *testing.T
	began time.Time

	mu     sync.Mutex
	events []string
	ends   history.Time // of the last key
	seen   env.Instant
	gaps   int
	asked  int           // how many looks have begun
	told   int           // how many of them were answered
	latest time.Duration // that an answer took
}

func (l *log) Record(e history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprintf("%v %s %s", e.Kind, e.Resource, e.Token)
	if e.Reason != "" {
		text += " " + e.Reason
	}
	if e.Detail != "" {
		text += " " + e.Detail
	}
	l.events, l.ends = append(l.events, text), e.Ends
}

func (l *log) Gap() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps++
}

func (l *log) Seen(before env.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told++
	l.seen, l.latest = before, max(l.latest, l.now().Sub(before))
}

func (l *log) Now() env.Instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return l.now()
}

func (l *log) now() env.Instant { return env.Instant(time.Since(l.began)) + 1 }

// patience bounds how long the watch may take.
const patience = time.Minute

// expect waits until everything up to now has been seen, and compares it with what was recorded
// since the last call.
func (l *log) expect(want ...string) {
	l.t.Helper()
	now, end := l.now(), time.Now().Add(patience)
	for {
		l.mu.Lock()
		seen, got := l.seen, l.events
		if seen > now {
			l.events = nil
		}
		l.mu.Unlock()
		if seen > now {
			if !slices.Equal(got, want) {
				l.t.Errorf("recorded\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
			return
		}
		if time.Now().After(end) {
			l.t.Fatal("the watch does not see the server any more")
		}
		time.Sleep(time.Millisecond)
	}
}

// follow watches a server until the test ends, or cancel is called. Its error then comes from ended.
func follow(t *testing.T, w *keywatch.Watch, addr, lost string) (cancel func(), ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	began, returned := make(chan bool), make(chan error, 1)
	go func() { returned <- w.Follow(ctx, addr, lost, sync.OnceFunc(func() { close(began) })) }()
	select {
	case <-began:
	case err := <-returned:
		t.Fatal(err)
	case <-time.After(patience):
		t.Fatal("the watch does not begin")
	}
	return cancel, returned
}

func begin(t *testing.T, o redisserver.Options) (*redisserver.Server, *keywatch.Watch, *log) {
	t.Helper()
	o.Nodes = 1
	s := servertest.Open(t, o).Server(1)
	l := &log{t: t, began: time.Now()}
	return s, keywatch.New(l), l
}

// Each change is recorded once, with its value and, where it can be known, its reason.
func TestChanges(t *testing.T) {
	s, w, l := begin(t, redisserver.Options{})
	servertest.Do(t, s, "SET old there")
	end, ended := follow(t, w, s.Addr(), "")
	l.expect("key-set old there rolled back without an expiry")

	servertest.Do(t, s, "SET k a NX PX 100000")
	do(t, s, "SET", "k", "b", "NX", "PX", "100000") // changes nothing
	l.expect("key-set k a")
	servertest.Do(t, s, "PEXPIRE k 200000")
	l.expect("key-extended k a")
	servertest.Do(t, s, "SET k b")
	servertest.Do(t, s, "SET k b PX 100000")
	servertest.Do(t, s, "PERSIST k")
	l.expect("key-gone k a overwritten", "key-set k b without an expiry", "key-extended k b", "key-extended k b without an expiry")
	servertest.Do(t, s, "UNLINK k nothing")
	l.expect("key-gone k b deleted")
	servertest.Do(t, s, "SET short c PX 1")
	l.expectSoon("key-set short c", "key-gone short c expired")
	servertest.Do(t, s, "SET k d PX 100000")
	l.expect("key-set k d")
	for _, script := range []string{live.UnlinkVolatile, live.UnlinkAny} {
		do(t, s, "EVAL", script, "1", "k")
		l.expect("key-gone k d evicted")
		servertest.Do(t, s, "SET k d PX 100000")
		l.expect("key-set k d")
	}
	servertest.Do(t, s, "CONFIG SET maxmemory-policy volatile-random maxmemory-eviction-tenacity 100 maxmemory 1")
	servertest.Do(t, s, "CONFIG SET maxmemory 0")
	l.expectSoon("key-gone k d evicted")
	servertest.Do(t, s, "FLUSHALL")
	l.expect("key-gone old there deleted")
	end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// expectSoon waits until as much has been recorded.
func (l *log) expectSoon(want ...string) {
	l.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		enough := len(l.events) >= len(want)
		l.mu.Unlock()
		if enough {
			break
		}
	}
	l.expect(want...)
}

// do sends a command whose reply may be nil.
func do(t *testing.T, s *redisserver.Server, words ...string) any {
	t.Helper()
	reply, err := s.Do(t.Context(), words...)
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	return reply
}

// A lock notices nothing of the watch: no WAIT counts it.
func TestIsNoReplica(t *testing.T) {
	s, w, l := begin(t, redisserver.Options{})
	follow(t, w, s.Addr(), "")
	l.expect()
	client := redis.NewClient(&redis.Options{Addr: s.Addr(), PoolSize: 1})
	defer func() { _ = client.Close() }()
	var acknowledged *redis.Cmd
	_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Set(t.Context(), "k", "v", 0)
		acknowledged = p.Do(t.Context(), "WAIT", 1, 50)
		return nil
	})
	if err != nil || acknowledged.Val() != int64(0) {
		t.Errorf("WAIT counts %v replicas, %v", acknowledged.Val(), err)
	}
}

// Law: the end that is told of a key is none before its true one, and hardly later, unless the server's clock was
// set since it was looked at: then it is not known.
func TestEndsOfKeys(t *testing.T) {
	s, w, l := begin(t, redisserver.Options{Clocks: true})
	follow(t, w, s.Addr(), "")
	ends := func(word string) (early, late time.Duration) {
		t.Helper()
		before := l.now()
		servertest.Do(t, s, "SET k v PX 100000")
		done := l.now()
		l.expect(word + " k v")
		if l.ends == 0 {
			return -1, -1
		}
		return env.Instant(l.ends).Sub(before.Add(100 * time.Second)), env.Instant(l.ends).Sub(done.Add(100*time.Second + time.Millisecond))
	}
	for i, word := range []string{"key-set", "key-extended", "key-extended"} {
		if early, late := ends(word); early < 0 || late > 500*time.Millisecond {
			t.Errorf("key %d: told %v after the earliest end, and %v after the latest", i, early, late)
		}
	}
	if err := s.SetClock(-time.Minute, 1); err != nil {
		t.Fatal(err)
	}
	if early, _ := ends("key-extended"); early != -1 {
		t.Errorf("the server's clock was set, and a key is told to end %v after the earliest end", early)
	}
}

// Only keys in database 0 are recorded.
func TestOtherDatabases(t *testing.T) {
	s, w, l := begin(t, redisserver.Options{})
	follow(t, w, s.Addr(), "")
	for _, script := range []string{
		`redis.call('SELECT', 3) redis.call('SET', 'k', 'elsewhere')`,
		`redis.call('SET', 'k', 'a')`,
		`redis.call('SELECT', 3) redis.call('DEL', 'k')`,
		`redis.call('DEL', 'k')`,
	} {
		do(t, s, "EVAL", script, "0")
	}
	l.expect("key-set k a without an expiry", "key-gone k a deleted")
}

// A server that is killed soon after the watch has begun has sent its changes by then.
func TestServerIsKilledAtOnce(t *testing.T) {
	for range 5 {
		s, w, l := begin(t, redisserver.Options{})
		_, ended := follow(t, w, s.Addr(), "")
		servertest.Do(t, s, "SET k a PX 100000")
		s.Kill()
		if err := <-ended; err == nil {
			t.Error("the watch of a server that is gone has ended without an error")
		}
		l.mu.Lock()
		if !slices.Equal(l.events, []string{"key-set k a"}) {
			t.Errorf("recorded %v", l.events)
		}
		l.mu.Unlock()
	}
}
