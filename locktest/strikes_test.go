package locktest_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/locktest"
)

func init() {
	innerTests["expiry by a second command"] = func(t *testing.T) {
		c := locktest.Config{Name: "two commands", Nodes: 1, Again: 1, Dir: os.Getenv(inner + "_DIR")}
		c.Storms = append(c.Storms, stormOf(t, c, "replies-are-lost"))
		locktest.Run(t, c, expiryBySecondCommand)
	}
}

// expiryBySecondCommand is a lock that sets its key by one command and the expiry of the key by another.
// If the reply to the first one is lost, the key stays for ever.
func expiryBySecondCommand(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		l.tries++
		token := l.owner + strings.Repeat("+", l.tries)
		for {
			asked := time.Now()
			set, err := l.client.SetNX(ctx, resource, token, 0).Result()
			if err == nil && set {
				err = l.client.PExpire(ctx, resource, env.TTL).Err()
			}
			until := asked.Add(env.TTL)
			switch {
			case err != nil:
				return locktest.Hold{}, err
			case set && time.Now().Before(until):
				release := func(ctx context.Context) error { return l.release(ctx, resource, token) }
				return locktest.Hold{Until: until, Release: release}, nil
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				return locktest.Hold{}, ctx.Err()
			}
		}
	})
}

// A fault that has struck once is no excuse for the deadlock that it leaves behind, although the step at
// which its plan ends it never comes.
func TestDeadlockAfterALostReplyFails(t *testing.T) {
	text := runInner(t, "expiry by a second command", t.TempDir())
	if !strings.Contains(text, "L1 (deadlock freedom) is violated") || !strings.Contains(text, "in a row were refused") || strings.Contains(text, "faults_end") {
		t.Errorf("the test fails otherwise:\n%s", text)
	}
}
