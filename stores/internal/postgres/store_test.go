//go:build linux

package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func TestRowsAreSweptAfterTheirTTL(t *testing.T) {
	f := openFleet(t, setting(1))
	row := func(key string, ttl time.Duration) {
		f.Insist(env.StoreRequest{Op: env.StoreCreate, Key: key, TTL: ttl})
	}
	row("r/short", time.Microsecond)
	row("r/long", time.Hour)
	row("s/short", time.Microsecond)
	row("r/none", 0)
	storetest.Eventually(t, "the row is swept", func() bool {
		f.Insist(env.StoreRequest{Op: env.StoreSweep, Key: "r/"})
		return slices.Equal(f.keys("r/"), []string{"r/long", "r/none"})
	})
	if keys := f.keys("s/"); len(keys) != 1 {
		t.Errorf("other rows: %v", keys)
	}
}

// A lease ends by itself unless it is renewed, which never shortens it. It is another's when it has ended.
func TestLeases(t *testing.T) {
	f := openFleet(t, setting(1))
	create := func(key string, ttl time.Duration) env.StoreReply {
		return f.Ask(env.StoreRequest{Op: env.StoreCreate, Key: key, Value: "v", TTL: ttl, Expires: true})
	}
	renew := func(e env.Entry, ttl time.Duration) bool {
		return f.Ask(env.StoreRequest{Op: env.StoreRenew, Key: e.Key, Revision: e.Revision, TTL: ttl}).Done
	}
	long := create("l/long", time.Hour).Entries[0]
	if again := create("l/long", time.Hour); again.Done || len(again.Entries) != 1 || again.Entries[0] != long {
		t.Errorf("leased twice: %+v", again)
	}
	if !renew(long, time.Microsecond) || !slices.Equal(f.keys("l/"), []string{"l/long"}) {
		t.Error("a renewal has shortened the lease")
	}
	other := long
	other.Revision++
	if renew(other, time.Hour) || f.Ask(env.StoreRequest{Op: env.StoreDelete, Key: other.Key, Revision: other.Revision}).Done {
		t.Error("another revision is renewed or deleted")
	}
	short := create("l/short", time.Millisecond).Entries[0]
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: short.Key, Revision: short.Revision})
	if renew(short, time.Hour) {
		t.Error("a lease that has expired is renewed")
	}
	next := create("l/short", time.Hour)
	if !next.Done || next.Entries[0].Revision <= short.Revision {
		t.Errorf("the next lease is %+v, after %+v", next, short)
	}
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: long.Key, Revision: long.Revision})
	f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: long.Key, Revision: long.Revision})
	f.Done(env.StoreRequest{Op: env.StoreSweep})
	if keys := f.keys("l/"); !slices.Equal(keys, []string{"l/short"}) {
		t.Errorf("left: %v", keys)
	}
}

// Of many clients that create the same entry or lease, each holder's revision is above those before.
func TestRevisionsIncreaseUnderContention(t *testing.T) {
	f := openFleet(t, setting(3))
	t.Run("entry", func(t *testing.T) { contend(t, f, env.StoreRequest{Op: env.StoreCreate, Key: "k"}) })
	t.Run("lease", func(t *testing.T) {
		contend(t, f, env.StoreRequest{Op: env.StoreCreate, Key: "l", TTL: time.Hour, Expires: true})
	})
}

func contend(t *testing.T, f *fleet, create env.StoreRequest) {
	var mu sync.Mutex
	var last uint64
	var all sync.WaitGroup
	for range 8 {
		c := f.Connect()
		all.Go(func() {
			for range 30 {
				reply, err := c.Do(t.Context(), create)
				if err != nil {
					t.Error(err)
					return
				}
				if !reply.Done {
					continue
				}
				mu.Lock()
				if got := reply.Entries[0].Revision; got <= last {
					t.Errorf("revision %d after %d", got, last)
				} else {
					last = got
				}
				mu.Unlock()
				if reply, err := c.Do(t.Context(), env.StoreRequest{Op: env.StoreDelete, Key: create.Key, Revision: reply.Entries[0].Revision}); err != nil || !reply.Done {
					t.Error(reply, err)
				}
			}
		})
	}
	all.Wait()
}

func TestClockOfAServerCanBeSet(t *testing.T) {
	f := openFleet(t, setting(1, func(s *nemesis.Setting) {
		s.Plan = nemesis.Plan{{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: time.Hour}}}
	}))
	row := func() { f.Insist(env.StoreRequest{Op: env.StoreCreate, Key: "row", TTL: 10 * time.Minute}) }
	sweep := func() []string { f.Insist(env.StoreRequest{Op: env.StoreSweep}); return f.keys("") }
	row()
	if keys := sweep(); len(keys) != 1 {
		t.Errorf("swept too early: %v", keys)
	}
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 3 * time.Hour} {
		if err := f.server(1).SetClock(ahead, 0); err != nil {
			t.Fatal(err)
		}
		var shown time.Time
		if err := f.server(1).ask(t.Context(), "select clock_timestamp()", &shown); err != nil {
			t.Fatal(err)
		}
		if off := time.Until(shown) - ahead; off.Abs() > 10*time.Minute {
			t.Errorf("the clock is off by %v", off)
		}
		if keys := sweep(); (len(keys) == 0) != (ahead > 0) {
			t.Errorf("%v ahead: %v", ahead, keys)
		}
		row()
	}
	if err := f.server(1).SetClock(0, -1_000_000); err != nil { // frozen
		t.Fatal(err)
	}
	f.server(1).Kill()
	if err := f.server(1).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.keys("")
}

func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) {
	before := orphanedMemory(t)
	storetest.NothingSurvives(t, 3)
	storetest.Eventually(t, "the shared memory is gone", func() bool { return orphanedMemory(t) <= before })
}

func TestMissingServer(t *testing.T) {
	was := packaged
	defer func() { packaged = was }()
	storetest.MissingServer(t, func(ctx context.Context) (live.Fleet, error) {
		packaged = filepath.Join(t.TempDir(), "*")
		return Open(ctx, setting(1), 1)
	}, version, "postgresql")
}

func TestBrokenServer(t *testing.T) {
	binaries, err := find()
	if err != nil {
		t.Fatal(err)
	}
	install := func(t *testing.T, dir string) {
		script := fmt.Sprintf("#!/bin/sh\nexec %s/initdb \"$@\"\n", binaries)
		if err := os.WriteFile(filepath.Join(dir, "initdb"), []byte(script), 0o755); err != nil { //nolint:gosec // it is executed
			t.Fatal(err)
		}
		was := packaged
		t.Cleanup(func() { packaged = was })
		packaged = filepath.Join(dir, "postgres")
	}
	storetest.BrokenServer(t, "postgres", install, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, setting(1), 1) })
}
