package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// onRequest is a lock whose release uses the context of the acquisition.
func onRequest(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(request context.Context, resource string) (locktest.Hold, error) {
		h, err := l.Lock(request, resource)
		release := h.Release
		h.Release = func(context.Context) error { return release(request) }
		return h, err
	})
}

// withTime is a lock whose key has its end as its value, by the clock of the client that sets it. Others take
// it over when that has come by theirs.
func withTime(env locktest.Env) locktest.Locker {
	client := onOneNode(env).client
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		for {
			sent := time.Now()
			mine := strconv.FormatInt(env.Now().Add(env.TTL).UnixNano(), 10)
			set, err := client.SetNX(ctx, resource, mine, 0).Result()
			if err == nil && !set {
				var value string
				if value, err = client.Get(ctx, resource).Result(); err == nil {
					if end, _ := strconv.ParseInt(value, 10, 64); env.Now().UnixNano() > end {
						var old string
						old, err = client.Do(ctx, "getset", resource, mine).Text()
						set = err == nil && old == value
					}
				}
			}
			if until := sent.Add(env.TTL); set && time.Now().Before(until) {
				return locktest.Hold{Until: until, Release: func(ctx context.Context) error {
					n, err := deleteMine.Run(ctx, client, []string{resource}, mine).Int()
					if err == nil && n == 0 {
						err = locktest.ErrNotHeld
					}
					return err
				}}, nil
			}
			if err != nil && !errors.Is(err, redis.Nil) {
				return locktest.Hold{}, err
			}
			select {
			case <-time.After(env.TTL / 40):
			case <-ctx.Done():
				return locktest.Hold{}, ctx.Err()
			}
		}
	})
}

// queued is a lock whose callers within a client wait for each other first.
type queued struct {
	*oneNode
	turn  chan struct{}
	leaks bool // an error leaves it locked
}

func (l queued) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return locktest.Hold{}, ctx.Err()
	}
	h, err := l.oneNode.Lock(ctx, resource)
	if err != nil {
		if !l.leaks {
			<-l.turn
		}
		return h, err
	}
	release := h.Release
	h.Release = func(ctx context.Context) error {
		defer func() { <-l.turn }()
		return release(ctx)
	}
	return h, nil
}

func inTurn(leaks bool) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		return queued{oneNode: onOneNode(env), turn: make(chan struct{}, 1), leaks: leaks}
	}
}

// onceForAll is a lock that has one token for each client, and takes a key with it for its own.
func onceForAll(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		for {
			sent := time.Now()
			err := l.set(ctx, resource, l.owner)
			if errors.Is(err, errTaken) && l.client.Get(ctx, resource).Val() == l.owner {
				err = nil
			}
			if err == nil {
				return locktest.Hold{Until: sent.Add(l.ttl), Release: func(ctx context.Context) error { return l.release(ctx, resource, l.owner) }}, nil
			}
			select {
			case <-time.After(l.ttl / 40):
			case <-ctx.Done():
				return locktest.Hold{}, ctx.Err()
			}
		}
	})
}

// countingNextTo is a lock whose counter of fences is a key with a name that another resource may have.
func countingNextTo(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		h, err := l.Lock(ctx, resource)
		if err == nil {
			h.Fence, err = l.client.Incr(ctx, resource+":fence").Uint64()
		}
		if err != nil && h.Release != nil {
			err = errors.Join(err, h.Release(ctx))
		}
		return h, err
	})
}

// renamed is a lock that changes the names of what it locks.
func renamed(change func(string) string) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
			return l.Lock(ctx, change(resource))
		})
	}
}

// unhurried is a lock that waits for as long as it likes, whatever becomes of the caller's context.
func unhurried(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		own, stop := context.WithTimeout(context.WithoutCancel(ctx), 3*env.TTL)
		defer stop()
		h, err := l.Lock(own, resource)
		if err == nil && ctx.Err() != nil {
			err = errors.Join(ctx.Err(), h.Release(own))
		}
		return h, err
	})
}

// Law: the default storms find, without any setting, defects that show only if the caller's context ends, if
// callers share a lock, if clocks of clients differ, if keys vanish, or if names are confused.
func TestWhatCallersDoIsTriedByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		storm  string
		breaks checker.Property
		open   func(locktest.Env) locktest.Locker
	}{
		"a release with the context of the acquisition": {"caller-gives-up", checker.Cleanup, onRequest},
		"a comparison of clients' clocks":               {"clients-clocks-differ", checker.Lease, withTime},
		"a local lock that an error leaves locked":      {"callers-give-up", checker.DeadlockFreedom, inTurn(true)},
		"a token for all callers":                       {"callers-share-a-lock", checker.Lease, onceForAll},
		"an extension of a key that is gone":            {"key-is-evicted", checker.Contract, anExtension(func(l *oneNode) { l.anybody = true })},
		"an extension of a key that a node forgot":      {"node-restarts-in-long-work", checker.Contract, anExtension(func(l *oneNode) { l.anybody = true })},
		"a counter with the name of another resource":   {"confusing-names", checker.DeadlockFreedom, countingNextTo},
		"names that are cut off":                        {"confusing-names", checker.Contract, renamed(func(name string) string { return name[:min(len(name), 8)] })},
		"names without upper case":                      {"confusing-names", checker.Contract, renamed(strings.ToLower)},
		"a call that goes on after its context":         {"waiter-gives-up", checker.Contract, unhurried},
		"a release by GET and DEL":                      {"releaser-stands-still", checker.Contract, anExtension(func(l *oneNode) { l.twoCalls = true })},
		"a watchdog that does not hear of a loss":       {"key-is-evicted", checker.Contract, aWatchdog(watchdog{deaf: true})},
		"a watchdog that counts from its answers":       {"slow-answers-then-none", checker.Lease, aWatchdog(watchdog{hopeful: true})},
	} {
		t.Run(name, func(t *testing.T) {
			if broken := brokenIn(t, locktest.Config{Nodes: 1}, c.storm, 3, c.open); !slices.Contains(broken, c.breaks) {
				t.Errorf("%s breaks %v: want %s", c.storm, broken, c.breaks)
			}
		})
	}
}

// tied is a lock whose holds end with the context of their acquisition, which is the notice of their loss, as is their end.
func tied(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		h, err := l.Lock(ctx, resource)
		if err != nil {
			return h, err
		}
		release := h.Release
		withContext := context.AfterFunc(ctx, func() { _ = release(context.Background()) })
		held, stop := context.WithDeadline(ctx, h.Until)
		h.Lost, h.Extend = held.Done(), nil
		h.Release = func(ctx context.Context) error {
			defer stop()
			if !withContext() {
				return locktest.ErrNotHeld
			}
			return release(ctx)
		}
		return h, nil
	})
}

// Law: none of these storms blames a correct lock.
func TestWhatCallersDoBlamesNoCorrectLock(t *testing.T) {
	five := map[string]bool{"a majority": true}
	for name, open := range map[string]func(locktest.Env) locktest.Locker{
		"that ends":               withoutExtend,
		"that can be extended":    anExtension(func(*oneNode) {}),
		"that renews itself":      aWatchdog(watchdog{}),
		"that ends with ctx":      tied,
		"with a queue of its own": inTurn(false),
		"a majority":              func(env locktest.Env) locktest.Locker { return onAllNodes(env) },
	} {
		t.Run(name, func(t *testing.T) {
			c := locktest.Config{Nodes: 1, Drawn: -1}
			if five[name] {
				c.Nodes = 5
			}
			for _, s := range locktest.Storms(c) {
				switch s.Name {
				case "short-work", "clients-come-and-go", "confusing-names", "call-is-cancelled", "caller-gives-up", "extension-unanswered", "key-is-evicted", "node-restarts-in-long-work",
					"messages-overtake", "waiter-gives-up", "releaser-stands-still", "slow-answers-then-none", "holder-cut-off-from-most", "holder-dies",
					"callers-share-a-lock", "callers-give-up", "clients-clocks-differ", "holder-cut-off-from-one", "second-request-is-lost":
					if broken := brokenIn(t, c, s.Name, 1, open); len(broken) > 0 {
						t.Errorf("%s breaks %v", s.Name, broken)
					}
				}
			}
		})
	}
}

// Law: callers that share a lock have numbers of their own, and one Locker for each client, which is closed
// once, after all of them.
func TestCallersShareALock(t *testing.T) {
	opened, closed := map[int]int{}, map[int]int{}
	var mu sync.Mutex // clients close their locks at the same time
	s := stormOf(t, locktest.Config{Nodes: 1}, "callers-share-a-lock")
	tried := locktest.Try(t, locktest.Config{Nodes: 1, Clients: 2}, s, 1, func(env locktest.Env) locktest.Locker {
		opened[env.Client]++
		env.Cleanup(func() error {
			mu.Lock()
			defer mu.Unlock()
			closed[env.Client]++
			return nil
		})
		return onOneNode(env)
	})
	if want := fmt.Sprint(map[int]int{1: 1, 2: 1}); tried.Err != nil || fmt.Sprint(opened) != want || fmt.Sprint(closed) != want {
		t.Errorf("%v: opened %v, closed %v", tried.Err, opened, closed)
	}
}

// Law: a caller that shares a lock is not blamed for a key that it cannot delete because the lock is cut off.
func TestCallersAreCutOffTogether(t *testing.T) {
	c := locktest.Config{Nodes: 1, Clients: 1, TTL: 2 * time.Second, Promises: []checker.Property{checker.Cleanup}}
	cut := &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}}
	s := locktest.Storm{Name: "release-cut-off", Callers: 2, Rounds: 3, Plan: nemesis.Plan{{Action: cut, Start: nemesis.When(2, env.StepBeforeRelease, 0), End: nemesis.After(c.TTL)}}}
	tried := locktest.Try(t, c, s, 1, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
	if tried.Err != nil || len(tried.Broken) > 0 {
		t.Errorf("%v: %s", tried.Err, tried.Reason)
	}
}

// Law: a client that died during a call is not blamed for it, even if its client library waits until it is closed, as
// that of etcd does.
func TestDeadClientIsNotBlamedForItsCall(t *testing.T) {
	c := locktest.Config{Nodes: 1, Work: time.Second}
	dies := locktest.Storm{Name: "waiter-dies", Plan: nemesis.Plan{{Action: &nemesis.Kill{Client: 2}, Start: nemesis.When(2, env.StepAcquire, c.Work/4)}}}
	waited := false
	tried := locktest.Try(t, c, dies, 1, func(env locktest.Env) locktest.Locker {
		lock, closed := onOneNode(env), make(chan struct{})
		env.Cleanup(func() error { close(closed); return nil })
		return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
			hold, err := lock.Lock(ctx, resource)
			if err != nil {
				waited = true
				<-closed
			}
			return hold, err
		})
	})
	if tried.Err != nil || len(tried.Broken) > 0 || !waited {
		t.Errorf("%v: %s; a call waited: %v", tried.Err, tried.Reason, waited)
	}
}

// onRedlock is this project's lock.
func onRedlock(env locktest.Env) locktest.Locker {
	machine := memory.Runtime()
	nodes, err := redisnode.New(env.Addrs, redisnode.Options{Runtime: machine, Dial: env.Dial})
	env.Must(err)
	env.Cleanup(nodes.Close)
	mutex, err := redlock.New(redlock.Defaults(env.TTL), machine, nodes, nil)
	env.Must(err)
	env.Cleanup(func() error { return mutex.Close(context.Background()) })
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		h, err := mutex.Lock(ctx, resource)
		if err != nil {
			return locktest.Hold{}, err
		}
		return locktest.Hold{Until: time.Now().Add(h.Left()), Lost: h.Context().Done(), Release: func(ctx context.Context) error {
			err := h.Release(ctx)
			if errors.Is(err, redlock.ErrLost) {
				err = locktest.ErrNotHeld
			}
			return err
		}}, nil
	})
}

// Law: this project's lock leaves no key behind when it is closed, and nobody waits long for it when it is free.
// (Planted defects do: TestFoundByStorm of evidence/mutants runs this.)
func TestRedlockInStorms(t *testing.T) {
	c := locktest.Config{Dir: t.TempDir(), Again: -1, Drawn: -1}
	c.Storms = []locktest.Storm{stormOf(t, c, "clients-come-and-go"), stormOf(t, c, "long-work")}
	locktest.Run(t, c, onRedlock)
}
