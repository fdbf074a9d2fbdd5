package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// native is a lock on one node after redis.io's page of 2026, or valkey.io's: it releases by DELEX with IFEQ or by
// DELIFEQ, and extends by SET with IFEQ and PX. Its fields select defects that these commands invite.
type native struct {
	*oneNode
	valkey bool

	unconditional bool // releases by DELEX without a condition
	noPX          bool // extends by SET with IFEQ alone: the key never expires
	ifNotEqual    bool // extends by SET with IFNE, if that says that nobody else has a value: it creates the key
	countsGet     bool // takes the old value of SET NX GET for a grant
}

func (l native) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	if l.countsGet {
		return l.lockByGet(ctx, resource)
	}
	token := rand.Text()
	for {
		h, err := l.try(ctx, resource, token)
		if err == nil {
			return l.hold(resource, token, h.Until), nil
		}
		select {
		case <-time.After(l.ttl / 16):
		case <-ctx.Done():
			return locktest.Hold{}, err
		}
	}
}

// lockByGet asks once who holds the lock, and counts any answer. The client means to recognise its own value after a
// lost reply.
func (l native) lockByGet(ctx context.Context, resource string) (locktest.Hold, error) {
	token, sent := l.owner, time.Now()
	old, err := l.client.Do(ctx, "SET", resource, token, "NX", "GET", "PX", l.ttl.Milliseconds()).Text()
	if err != nil && !errors.Is(err, redis.Nil) {
		return locktest.Hold{}, err
	}
	if old != "" {
		token = old
	}
	return l.hold(resource, token, sent.Add(l.ttl)), nil
}

func (l native) hold(resource, token string, until time.Time) locktest.Hold {
	yes := func(reply any, err error) error {
		switch {
		case errors.Is(err, redis.Nil), err == nil && reply == int64(0):
			return locktest.ErrNotHeld
		}
		return err
	}
	return locktest.Hold{
		Until: until,
		Release: func(ctx context.Context) error {
			command := []any{"DELEX", resource, "IFEQ", token}
			if l.valkey {
				command = []any{"DELIFEQ", resource, token}
			}
			if l.unconditional {
				command = command[:2]
			}
			return yes(l.client.Do(ctx, command...).Result())
		},
		Extend: func(ctx context.Context) (time.Time, error) {
			sent := time.Now()
			command := []any{"SET", resource, token, "IFEQ", token, "PX", l.ttl.Milliseconds()}
			switch {
			case l.noPX:
				command = command[:5]
			case l.ifNotEqual:
				command[3], command[4] = "IFNE", ""
			}
			return sent.Add(l.ttl), yes(l.client.Do(ctx, command...).Result())
		},
	}
}

// broken runs the default storms until the lock breaks one of the properties, or to the end, and returns what it
// has broken, by the storm in which it first did.
func broken(t *testing.T, change func(*native), until ...checker.Property) map[checker.Property]string {
	t.Helper()
	c := locktest.Config{Nodes: 1, Work: 3 * time.Second, Extend: 500 * time.Millisecond}
	found := map[checker.Property]string{}
	for _, storm := range locktest.Storms(c) {
		tried := locktest.Try(t, c, storm, 1, func(env locktest.Env) locktest.Locker {
			l := native{oneNode: onOneNode(env)}
			change(&l)
			return l
		})
		if tried.Err != nil {
			t.Fatalf("%s: %v", storm.Name, tried.Err)
		}
		for _, f := range tried.Broken {
			if found[f.Property] == "" {
				found[f.Property] = storm.Name
			}
			if slices.Contains(until, f.Property) {
				return found
			}
		}
	}
	return found
}

// Law: a lock that follows today's pages keeps its promises in every default storm, with either product's commands.
func TestLocksOfTodaysPages(t *testing.T) {
	for name, valkey := range map[string]bool{"redis.io": false, "valkey.io": true} {
		t.Run(name, func(t *testing.T) {
			if found := broken(t, func(l *native) { l.valkey = valkey }); len(found) > 0 {
				t.Errorf("broken: %v", found)
			}
		})
	}
}

// Law: each trap of the new commands breaks a promise in a default storm.
func TestTrapsOfConditionalCommands(t *testing.T) {
	for name, c := range map[string]struct {
		defect func(*native)
		breaks checker.Property
	}{
		"DELEX without a condition": {func(l *native) { l.unconditional = true }, checker.Lease},
		"SET IFEQ without PX":       {func(l *native) { l.noPX = true }, checker.DeadlockFreedom},
		"SET IFNE to extend":        {func(l *native) { l.ifNotEqual = true }, checker.Lease},
		"SET NX GET as a vote":      {func(l *native) { l.countsGet = true }, checker.Lease},
	} {
		t.Run(name, func(t *testing.T) {
			if found := broken(t, c.defect, c.breaks); found[c.breaks] == "" {
				t.Errorf("%s is not violated, but %v", c.breaks, found)
			}
		})
	}
}
