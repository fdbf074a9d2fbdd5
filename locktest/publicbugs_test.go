package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// polling is a lock whose waiters look again after a pause.
type polling struct {
	*oneNode
	take   func(ctx context.Context, resource, token string) (bool, error)
	give   func(ctx context.Context, resource, token string) error
	pause  func(tries int) time.Duration
	weight int
}

func (l polling) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	token := rand.Text()
	for tries := 0; ; tries++ {
		sent := time.Now()
		took, err := l.take(ctx, resource, token)
		if err != nil {
			return locktest.Hold{}, err
		}
		if until := sent.Add(l.ttl); took && time.Now().Before(until) {
			return locktest.Hold{Until: until, Weight: l.weight, Release: func(ctx context.Context) error { return l.give(ctx, resource, token) }}, nil
		}
		select {
		case <-time.After(l.pause(tries)):
		case <-ctx.Done():
			return locktest.Hold{}, ctx.Err()
		}
	}
}

// inTwoSteps is a lock that sets its key and the key's expiry by two commands.
func inTwoSteps(ignoresErrors bool) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		return polling{oneNode: l, give: l.release, take: func(ctx context.Context, resource, token string) (bool, error) {
			set, err := l.client.SetNX(ctx, resource, token, 0).Result()
			if err == nil && set {
				if err = l.client.PExpire(ctx, resource, l.ttl).Err(); ignoresErrors {
					err = nil
				}
			}
			return set, err
		}, pause: func(int) time.Duration { return l.ttl / 50 }}
	}
}

// patient is a lock whose last client doubles its pause after each try, while the others look all the time.
func patient(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return polling{oneNode: l, give: l.release, take: func(ctx context.Context, resource, token string) (bool, error) {
		return l.client.SetNX(ctx, resource, token, l.ttl).Result()
	}, pause: func(tries int) time.Duration {
		if env.Client < 3 {
			tries = 0
		}
		return 2 * time.Millisecond << min(tries, 20)
	}}
}

var deleteAndTell = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) redis.call("PUBLISH", KEYS[1], "free") return 1 end return 0`)

// deaf is a lock whose waiters sleep until they are told of a release, and do not look again once they listen.
func deaf(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		token := rand.Text()
		for {
			sent := time.Now()
			set, err := l.client.SetNX(ctx, resource, token, l.ttl).Result()
			if until := sent.Add(l.ttl); err == nil && set && time.Now().Before(until) {
				return locktest.Hold{Until: until, Release: func(ctx context.Context) error {
					n, err := deleteAndTell.Run(ctx, l.client, []string{resource}, token).Int()
					if err == nil && n == 0 {
						err = locktest.ErrNotHeld
					}
					return err
				}}, nil
			}
			if err == nil {
				err = l.sleep(ctx, resource)
			}
			if err != nil {
				return locktest.Hold{}, err
			}
		}
	})
}

func (l *oneNode) sleep(ctx context.Context, resource string) error {
	told := l.client.Subscribe(ctx, resource)
	defer told.Close()
	if _, err := told.Receive(ctx); err != nil {
		return err
	}
	select {
	case <-told.Channel():
	case <-time.After(l.ttl):
	case <-ctx.Done():
	}
	return ctx.Err()
}

var replaceMine = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3]) return 1 end return 0`)

// heartbeat is a lock each of whose extensions gives the key another value. If the answer is lost, it does not
// know which one the key has.
func heartbeat(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		h, err := l.Lock(ctx, resource)
		if err != nil {
			return h, err
		}
		version, err := l.client.Get(ctx, resource).Result()
		h.Extend = func(ctx context.Context) (time.Time, error) {
			sent, next := time.Now(), rand.Text()
			n, err := replaceMine.Run(ctx, l.client, []string{resource}, version, next, l.ttl.Milliseconds()).Int()
			if err == nil && n == 0 {
				err = errors.New("the lock is lost")
			}
			if err == nil {
				version = next
			}
			return sent.Add(l.ttl), err
		}
		h.Release = func(ctx context.Context) error { return l.release(ctx, resource, version) }
		return h, err
	})
}

// session is a lock whose keys a task of the client renews.
type session struct {
	watchdog
	life    context.Context
	running *sync.WaitGroup

	detached bool // lets a request go on that its caller has given up, and renews what that has set
	forgets  bool // goes on to renew what a release that failed has left
}

func ofSession(change func(*session)) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		l := session{watchdog: watchdog{oneNode: onOneNode(env)}, running: new(sync.WaitGroup)}
		life, end := context.WithCancel(context.Background())
		l.life = life
		env.Cleanup(func() error { end(); l.running.Wait(); return nil })
		change(&l)
		return l
	}
}

func (l session) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	acquisition := ctx
	if l.detached {
		acquisition = l.life
	}
	granted, failed := make(chan locktest.Hold, 1), make(chan error, 1)
	l.running.Go(func() {
		token := rand.Text()
		h, err := l.try(acquisition, resource, token)
		for ; err != nil; h, err = l.try(acquisition, resource, token) {
			select {
			case <-time.After(l.ttl / 40):
			case <-ctx.Done():
				failed <- err
				return
			}
		}
		life, end := context.WithCancel(l.life)
		defer end()
		lost := make(chan struct{})
		granted <- locktest.Hold{Lost: lost, Release: func(ctx context.Context) error {
			err := h.Release(ctx)
			if err == nil || !l.forgets {
				end()
			}
			return err
		}}
		l.renew(life, resource, h, lost)
	})
	select {
	case h := <-granted:
		return h, nil
	case err := <-failed:
		return locktest.Hold{}, err
	case <-ctx.Done():
		return locktest.Hold{}, ctx.Err()
	}
}

// again is a lock that tries again when a request fails, and then takes a key of its own for a new one.
func again(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return polling{oneNode: l, give: l.release, take: func(ctx context.Context, resource, token string) (bool, error) {
		set, err := l.client.SetNX(ctx, resource, token, l.ttl).Result()
		if err == nil && !set {
			set = l.client.Get(ctx, resource).Val() == token
		}
		return set, nil
	}, pause: func(int) time.Duration { return l.ttl / 50 }}
}

var (
	takeOne = redis.NewScript(`local left = tonumber(redis.call("GET", KEYS[1]) or ARGV[1]) if left == 0 then return 0 end redis.call("SET", KEYS[1], left - 1) return 1`)
	giveOne = redis.NewScript(`redis.call("INCR", KEYS[1]) return 1`)
)

// counted is a semaphore of three permits that counts those that are left.
func counted(open func(locktest.Env) *oneNode) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		l := open(env)
		return polling{oneNode: l, weight: 1, take: func(ctx context.Context, resource, _ string) (bool, error) {
			return takeOne.Run(ctx, l.client, []string{resource}, 3).Bool()
		}, give: func(ctx context.Context, resource, _ string) error {
			return giveOne.Run(ctx, l.client, []string{resource}).Err()
		}, pause: func(int) time.Duration { return l.ttl / 50 }}
	}
}

// Law: the default storms find bugs that public locks have had, each in a small lock here, without any setting.
// The first line of the failure says what is wrong.
func TestPublicBugsAreFound(t *testing.T) {
	for _, bug := range []struct {
		source, storm string
		open          func(locktest.Env) locktest.Locker
		breaks        checker.Property
		reason        string // a part of it
		capacity      int
	}{
		{"laravel/framework#31166", "second-request-is-lost", inTwoSteps(true), checker.DeadlockFreedom, "which had no expiry; client 1 had died", 1},
		{"laravel/framework#31166", "replies-are-lost", inTwoSteps(false), checker.DeadlockFreedom, "which had no expiry; client 3 had been refused", 1},
		{"sibson/redbeat#127", "extender-stands-still", anExtension(func(l *oneNode) { l.anybody = true }), checker.Backing, "its keys do not protect the hold", 1},
		{"spring-projects/spring-integration#3716", "short-work", deaf, checker.DeadlockFreedom, "Nobody is granted a free lock for", 1},
		{"bbangert/retools#18", "clients-clocks-differ", withTime, checker.Backing, "overwrote client", 1},
		{"blnkfinance/blnk#354", "caller-gives-up", onRequest, checker.Cleanup, "A key stays behind that its holder has given up", 1},
		{"cirello-io/dynamolock#280", "extension-unanswered", heartbeat, checker.Contract, "What an extension or a release reports is not true: client 1's extension failed at", 1},
		{"redisson/redisson#5698", "long-work", aWatchdog(watchdog{plain: true, renewals: 2}), checker.Backing, "lived for its whole TTL, and the lock counted on it for longer", 1},
		{"redis/redis-py#370", "calm", anExtension(func(l *oneNode) { l.seconds = true }), checker.Backing, "the lock itself counts on its keys for longer than it has asked the nodes to keep them", 1},
		{"awslabs/amazon-dynamodb-lock-client#94", "long-work", patient, checker.DeadlockFreedom, "Client 3 waits for the lock while others are granted it again and again", 1},
		{"redisson/redisson#7272", "call-is-cancelled", ofSession(func(l *session) { l.detached = true }), checker.DeadlockFreedom, "which client 1 went on to extend", 1},
		{"apache/curator#1193", "replies-are-lost", ofSession(func(l *session) { l.forgets = true }), checker.DeadlockFreedom, "which client 3 went on to extend", 1},
		{"apache/curator#1121", "replies-are-lost", again, checker.Backing, "the lock itself counts on its keys for longer than it has asked", 1},
		{"redisson/redisson#2045", "holder-dies", counted(onOneNode), checker.DeadlockFreedom, "Nobody gets the lock any more", 3},
		{"redisson/redisson#5066", "replies-are-lost", counted(sendingAgain), checker.Lease, "granted permits that it did not have", 3},
	} {
		t.Run(bug.source+" in "+bug.storm, func(t *testing.T) {
			c, seen := locktest.Config{Nodes: 1, Capacity: bug.capacity}, []string(nil)
			var lasted time.Duration
			for seed := uint64(1); seed <= 6; seed++ {
				tried := locktest.Try(t, c, stormOf(t, c, bug.storm), seed, bug.open)
				if tried.Err != nil {
					t.Fatal(tried.Err)
				}
				if lasted += tried.Lasted; len(tried.Broken) == 0 {
					continue
				}
				if tried.Broken[0].Property == bug.breaks && strings.Contains(tried.Reason, bug.reason) {
					t.Attr("found", fmt.Sprintf("%s %s %s %d %.0f", bug.source, bug.storm, bug.breaks.Code(), seed, lasted.Seconds())) // for docs/evidence/mutants.md
					t.Logf("%s in run %d: %s. %s", bug.breaks.Code(), seed, tried.Reason, tried.Broken[0].Story())
					return
				}
				seen = append(seen, tried.Broken[0].Property.Code()+": "+tried.Reason)
			}
			t.Errorf("6 runs show %q: want %s: %s", seen, bug.breaks.Code(), bug.reason)
		})
	}
}
