//go:build linux

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

// A primary that is killed, shut down or stopped is replaced, and follows when it is back. Nothing is lost.
func TestPrimaryIsReplaced(t *testing.T) {
	start := func(s *Server) error { return s.Start(t.Context()) }
	for name, c := range map[string]struct{ fail, back func(*Server) error }{
		"killed":    {func(s *Server) error { s.Kill(); return nil }, start},
		"shut down": {func(s *Server) error { s.Quit(); return nil }, start},
		"stopped":   {(*Server).Stop, (*Server).Continue},
	} {
		t.Run(name, func(t *testing.T) {
			f := openFleet(t, setting(3))
			leader := 1
			var keys []string
			for round := range 2 {
				keys = append(keys, fmt.Sprintf("k/%d", round))
				f.put(keys[round], "")
				if err := c.fail(f.server(leader)); err != nil {
					t.Fatal(err)
				}
				next := f.leader(leader)
				if got := f.keys("k/"); !slices.Equal(got, keys) {
					t.Fatalf("after node %d there is %v, want %v", leader, got, keys)
				}
				f.put(fmt.Sprintf("other/%d", round), "")
				if err := c.back(f.server(leader)); err != nil {
					t.Fatal(err)
				}
				f.inSync(next) // all others are standbys
				leader = next
			}
			for i, led := range f.led() { // nobody leads between two
				if (led == 0) != (i%2 == 0) {
					t.Fatalf("leaders were %v", f.led())
				}
			}
		})
	}
}

// A stopped server answers nothing, not even over connections that are open, and can be
// killed.
func TestStoppedServerIsSilent(t *testing.T) {
	f := openFleet(t, setting(1))
	f.put("k", "")
	if err := f.server(1).Stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if reply, err := f.Client.Do(ctx, env.StoreRequest{Op: env.StoreList}); err == nil {
		t.Errorf("answered %v", reply)
	}
	f.server(1).Kill()
	if left := f.server(1).processes(); len(left) > 0 {
		t.Errorf("%d processes are left", len(left))
	}
	if err := f.server(1).Continue(); err != nil {
		t.Error(err)
	}
	if err := f.server(1).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := f.keys("k"); len(keys) != 1 {
		t.Errorf("after the restart: %v", keys)
	}
}

// Without a majority nobody is elected, requests have no effect, and nothing is lost.
func TestNoElectionWithoutMajority(t *testing.T) {
	f := openFleet(t, setting(3))
	f.put("k", "")
	f.server(2).Kill()
	f.server(1).Kill()
	_, _ = f.Client.Do(t.Context(), env.StoreRequest{Op: env.StoreList}) // over a connection that has ended
	for range 2 * len(f.Servers) {
		if _, err := f.Client.Do(t.Context(), env.StoreRequest{Op: env.StoreCreate, Key: "never"}); !errors.Is(err, env.ErrNoLeader) {
			t.Fatalf("without a leader: %v", err)
		}
	}
	if led := f.led(); !slices.Equal(led, []int{0}) {
		t.Errorf("leaders were %v", led)
	}
	for _, node := range []int{1, 2} {
		if err := f.server(node).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if keys := f.keys(""); !slices.Equal(keys, []string{"k"}) {
		t.Errorf("afterwards: %v", keys)
	}
	f.inSync(f.leader())
}

// All servers fail at once and come back in any order.
func TestAllServersFail(t *testing.T) {
	f := openFleet(t, setting(3))
	for round, order := range [][]int{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}} {
		f.put(fmt.Sprint(round), "")
		for _, node := range order {
			f.server(node).Kill()
		}
		for _, node := range order {
			if err := f.server(node).Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if keys := f.keys(""); len(keys) != round+1 {
			t.Fatalf("after round %d: %v", round, keys)
		}
		f.inSync(f.leader())
	}
}

// A failover loses the commits that were answered before anything else had them, however that
// came about.
func TestFailoverLosesWhatWasOnItsWay(t *testing.T) {
	for name, change := range map[string]func(*nemesis.Setting){
		"asynchronous standbys": asynchronous,
		"durability off": func(s *nemesis.Setting) { // WAL stays in memory for 10 s
			s.Store.Durability = nemesis.Off
			s.Store.Commit.Range = nemesis.Range{Min: 10 * time.Second, Max: 10 * time.Second}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := openFleet(t, setting(3, change))
			f.put("early", "")
			storetest.Eventually(t, "the first entry has arrived", func() bool {
				var n int
				return f.server(2).ask(t.Context(), "select count(*) from entries", &n) == nil && n == 1 &&
					f.server(3).ask(t.Context(), "select count(*) from entries", &n) == nil && n == 1
			})
			f.put("late", "")
			f.server(1).Kill()
			f.leader(1)
			if keys := f.keys(""); !slices.Equal(keys, []string{"early"}) {
				t.Errorf("after the failover: %v", keys)
			}
			if err := f.server(1).Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.inSync(f.leader())
			if keys := f.keys(""); !slices.Equal(keys, []string{"early"}) {
				t.Errorf("after the restart: %v", keys)
			}
		})
	}
}

// The servers answer commits as the setting says.
func TestDurability(t *testing.T) {
	f := openFleet(t, setting(2, func(s *nemesis.Setting) { s.Store.Durability = nemesis.RemoteWrite }))
	var got string
	if err := f.server(1).ask(t.Context(), "show synchronous_commit", &got); err != nil || got != "remote_write" {
		t.Errorf("synchronous_commit is %q (%v)", got, err)
	}
}
