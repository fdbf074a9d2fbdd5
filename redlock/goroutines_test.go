package redlock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// memory is five nodes in memory, for the lock on goroutines and in real time:
// what the simulator cannot show is a data race.
type memory struct {
	mu    sync.Mutex
	keys  [5]map[string]memoryKey
	group sync.WaitGroup
}

type memoryKey struct {
	token  string
	expiry time.Time
}

func (m *memory) Len() int { return len(m.keys) }

func (m *memory) Send(to env.NodeSet, c env.Command, _ env.Instant) env.Round {
	r := &memoryRound{replies: make(chan env.Reply, to.Len()), left: to.Len()}
	for n := 1; n <= m.Len(); n++ {
		if to.Has(n) {
			m.group.Go(func() {
				time.Sleep(time.Duration(rand.Int64N(int64(200 * time.Microsecond))))
				r.replies <- env.Reply{Node: n, Answer: m.execute(n-1, c)}
			})
		}
	}
	return r
}

func (m *memory) execute(n int, c env.Command) env.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, exists := m.keys[n][c.Key]
	exists = exists && time.Now().Before(k.expiry)
	mine := exists && k.token == c.Token
	switch {
	case c.Op == env.OpSet && !exists, c.Op == env.OpExtend && mine:
		m.keys[n][c.Key] = memoryKey{c.Token, time.Now().Add(c.TTL)}
	case c.Op == env.OpDelete && mine:
		delete(m.keys[n], c.Key)
	default:
		return env.No
	}
	return env.Yes
}

type memoryRound struct {
	replies chan env.Reply
	left    int
}

func (r *memoryRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if r.left == 0 {
		return env.Reply{}, env.ErrRoundOver
	}
	var timeout <-chan time.Time
	if until != env.Never {
		timeout = time.After(until.Sub(env.System().Now(env.Monotonic)))
	}
	select {
	case reply := <-r.replies:
		r.left--
		return reply, nil
	case <-timeout:
		return env.Reply{}, env.ErrTimeout
	case <-ctx.Done():
		return env.Reply{}, ctx.Err()
	}
}

// Several goroutines share a mutex, extend, release and close: the race
// detector watches, and the counter behind the lock loses no update.
func TestOnGoroutines(t *testing.T) {
	nodes := new(memory)
	for i := range nodes.keys {
		nodes.keys[i] = map[string]memoryKey{}
	}
	c := redlock.Defaults(10 * time.Second)
	c.RetryMin, c.RetryMax = 0, time.Millisecond
	c.NodeTimeout = 10 * time.Second // the machine may be busy
	mutex, err := redlock.New(c, env.System(), nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	const users, rounds = 8, 20
	var inside atomic.Int32
	var group sync.WaitGroup
	for range users {
		group.Go(func() {
			for range rounds {
				hold, err := mutex.Lock(context.Background(), "r")
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				if err := hold.Extend(context.Background(), 10*time.Second); err != nil {
					t.Error(err)
				}
				inside.Add(-1)
				group.Go(func() { _ = hold.Extend(context.Background(), 10*time.Second) }) // into the release
				if err := hold.Release(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()

	left, err := mutex.Lock(context.Background(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if err := mutex.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if cause := context.Cause(left.Context()); !errors.Is(cause, redlock.ErrClosed) {
		t.Errorf("the hold that was left ended with %v", cause)
	}
	nodes.group.Wait()
}
