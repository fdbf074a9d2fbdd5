package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// polling is a lock whose waiters look again after a pause.
type polling struct {
	*oneNode
	take  func(ctx context.Context, resource, token string) (bool, error)
	pause func(tries int) time.Duration
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
			return locktest.Hold{Until: until, Release: func(ctx context.Context) error { return l.release(ctx, resource, token) }}, nil
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
		return polling{l, func(ctx context.Context, resource, token string) (bool, error) {
			set, err := l.client.SetNX(ctx, resource, token, 0).Result()
			if err == nil && set {
				if err = l.client.PExpire(ctx, resource, l.ttl).Err(); ignoresErrors {
					err = nil
				}
			}
			return set, err
		}, func(int) time.Duration { return l.ttl / 50 }}
	}
}

// patient is a lock whose last client doubles its pause after each try, while the others look all the time.
func patient(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return polling{l, func(ctx context.Context, resource, token string) (bool, error) {
		return l.client.SetNX(ctx, resource, token, l.ttl).Result()
	}, func(tries int) time.Duration {
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

// Law: the default storms find bugs that public locks have had, each in a small lock here, without any setting.
// The first line of the failure says what is wrong.
func TestPublicBugsAreFound(t *testing.T) {
	for _, bug := range []struct {
		source, storm string
		open          func(locktest.Env) locktest.Locker
		breaks        checker.Property
		reason        string // a part of it
	}{
		{"laravel/framework#31166", "second-request-is-lost", inTwoSteps(true), checker.DeadlockFreedom, "which had no expiry; client 1 had died"},
		{"laravel/framework#31166", "replies-are-lost", inTwoSteps(false), checker.DeadlockFreedom, "which had no expiry; client 3 had been refused"},
		{"sibson/redbeat#127", "extender-stands-still", anExtension(func(l *oneNode) { l.anybody = true }), checker.Backing, "its keys do not protect the hold"},
		{"spring-projects/spring-integration#3716", "short-work", deaf, checker.DeadlockFreedom, "Nobody is granted a free lock for"},
		{"bbangert/retools#18", "clients-clocks-differ", withTime, checker.Backing, "overwrote client"},
		{"blnkfinance/blnk#354", "caller-gives-up", onRequest, checker.Cleanup, "A key stays behind that its holder has given up"},
		{"cirello-io/dynamolock#280", "extension-unanswered", heartbeat, checker.Contract, "What an extension or a release reports is not true: client 1's extension failed at"},
		{"redisson/redisson#5698", "long-work", aWatchdog(watchdog{plain: true, renewals: 2}), checker.Backing, "lived for its whole TTL, and the lock counted on it for longer"},
		{"redis/redis-py#370", "calm", anExtension(func(l *oneNode) { l.seconds = true }), checker.Backing, "the lock itself counts on its keys for longer than it has asked the nodes to keep them"},
		{"awslabs/amazon-dynamodb-lock-client#94", "long-work", patient, checker.DeadlockFreedom, "Client 3 waits for the lock while others are granted it again and again"},
	} {
		t.Run(bug.source+" in "+bug.storm, func(t *testing.T) {
			c, seen := locktest.Config{Nodes: 1}, []string(nil)
			for seed := uint64(1); seed <= 6; seed++ {
				tried := locktest.Try(t, c, stormOf(t, c, bug.storm), seed, bug.open)
				if tried.Err != nil {
					t.Fatal(tried.Err)
				}
				if len(tried.Broken) == 0 {
					continue
				}
				if tried.Broken[0].Property == bug.breaks && strings.Contains(tried.Reason, bug.reason) {
					t.Logf("%s in run %d: %s. %s", bug.breaks.Code(), seed, tried.Reason, tried.Broken[0].Story())
					return
				}
				seen = append(seen, tried.Broken[0].Property.Code()+": "+tried.Reason)
			}
			t.Errorf("6 runs show %q: want %s: %s", seen, bug.breaks.Code(), bug.reason)
		})
	}
}
