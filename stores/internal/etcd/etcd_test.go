//go:build linux

package etcd

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func open(ctx context.Context) (live.Fleet, error) {
	return Open(ctx, nemesis.Setting{Nodes: 3}, 1)
}

func TestMain(m *testing.M) { storetest.OrphanMain(m, open) }

// A program that is killed leaves no servers and no files.
func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) { storetest.NothingSurvives(t, 3) }

// long is a TTL that no session reaches by itself.
const long = 10 * time.Minute

var listA = env.StoreRequest{Op: env.StoreList, Key: "a/"}

// Await replies when the entry is deleted, and at once if it is gone.
func TestAwait(t *testing.T) {
	f := storetest.Open(t, open)
	e := f.Create(env.StoreRequest{Key: "a/x", Value: "v", Session: f.OpenSession(long)})
	awaited := make(chan error, 1)
	waiter := f.Connect()
	go func() {
		_, err := storetest.Try(t, waiter, storetest.Patience, env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision})
		awaited <- err
	}()
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision + 1})
	if _, err := storetest.Try(t, f.Connect(), 50*time.Millisecond, env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the wait for an entry that is there ended with %v", err)
	}
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: e.Key})
	if err := <-awaited; err != nil {
		t.Error(err)
	}
}

// A session without heartbeats expires, and its entries go with it.
func TestSessionExpires(t *testing.T) {
	f := storetest.Open(t, open)
	session := f.OpenSession(time.Second)
	f.Create(env.StoreRequest{Key: "a/x", Session: session})
	storetest.Eventually(t, "the entry is gone", func() bool { return len(f.Ask(listA).Entries) == 0 })
	f.Declined(env.StoreRequest{Op: env.StoreKeep, Session: session})
	f.Declined(env.StoreRequest{Op: env.StoreClose, Session: session})
	f.Declined(env.StoreRequest{Op: env.StoreCreate, Key: "a/x", Session: session})
}

// A member that is killed, or stopped, leads no longer. The others answer, and have lost
// nothing; nor has the member when it is back.
func TestMemberAway(t *testing.T) {
	for what, c := range map[string]struct {
		leave  func(*Server) error
		comeIn func(*Server) error
	}{
		"killed":   {func(s *Server) error { s.Kill(); return nil }, func(s *Server) error { return s.Start(t.Context()) }},
		"shutdown": {func(s *Server) error { s.Quit(); return nil }, func(s *Server) error { return s.Start(t.Context()) }},
		"stopped":  {(*Server).Stop, (*Server).Continue},
	} {
		t.Run(what, func(t *testing.T) {
			f := storetest.Open(t, open)
			session := f.OpenSession(long)
			want := []env.Entry{f.Create(env.StoreRequest{Key: "a/1", Value: "first", Session: session})}
			for i, key := range []string{"a/2", "a/3", "a/4"} { // one of the members led
				away := f.Servers[i].(*Server)
				if err := c.leave(away); err != nil {
					t.Fatal(err)
				}
				f.Insist(listA)
				f.Insist(env.StoreRequest{Op: env.StoreCreate, Key: key, Session: session}) // perhaps twice
				got := f.Insist(listA).Entries
				if len(got) != len(want)+1 || !reflect.DeepEqual(got[:len(want)], want) || got[len(want)].Key != key {
					t.Fatalf("there are %+v, not %+v and %s", got, want, key)
				}
				want = got
				if err := c.comeIn(away); err != nil {
					t.Fatal(err)
				}
			}
			if reply := f.Insist(env.StoreRequest{Op: env.StoreKeep, Session: session}); !reply.Done {
				t.Error("the session is over")
			}
		})
	}
}

// The first member leads at first.
func TestFirstMemberLeads(t *testing.T) {
	f := storetest.Open(t, open)
	for _, server := range f.Servers {
		got, err := statusOf(t.Context(), server.(*Server))
		if err != nil {
			t.Fatal(err)
		}
		first, err := statusOf(t.Context(), f.Servers[0].(*Server))
		if err != nil {
			t.Fatal(err)
		}
		if got.Leader != first.Header.MemberId {
			t.Errorf("%s follows %x, not %x", server.Addr(), got.Leader, first.Header.MemberId)
		}
	}
}

// Without a quorum requests are refused, or not answered, and nothing is done.
func TestNoQuorum(t *testing.T) {
	f := storetest.Open(t, open)
	session := f.OpenSession(long)
	f.Servers[1].(*Server).Kill()
	f.Servers[2].(*Server).Kill()
	r := env.StoreRequest{Op: env.StoreCreate, Key: "a/x", Session: session}
	storetest.Eventually(t, "a request is refused", func() bool {
		_, err := storetest.Try(t, f.Client, time.Second, r)
		if err == nil {
			t.Fatal("a minority has carried out a request")
		}
		return errors.Is(err, env.ErrNoLeader)
	})
	if err := f.Servers[1].(*Server).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Insist(listA)
}

func TestUnsupportedRequests(t *testing.T) {
	f := storetest.Open(t, open)
	for _, r := range []env.StoreRequest{
		{Op: env.StoreSweep, Key: "a"},
		{Op: env.StoreCreate, Key: "a", TTL: time.Second},
		{Op: env.StoreCreate, Key: "a", Sequential: true},
		{Op: env.StoreCreate, Key: "a", Delay: time.Second},
	} {
		if _, err := storetest.Try(t, f.Client, storetest.Patience, r); !errors.Is(err, live.ErrStoreOp) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestMissingEtcd(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := open(t.Context())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install etcd-server") {
		t.Errorf("no line that says what to do: %v", err)
	}
	if v := version(t.Context()); v != "" {
		t.Errorf("version %q of nothing", v)
	}
}

func TestBrokenServer(t *testing.T) {
	storetest.BrokenServer(t, "etcd", storetest.InPath, open)
}

func TestVersion(t *testing.T) {
	if v := version(t.Context()); !strings.HasPrefix(v, "3.") {
		t.Errorf("version %q", v)
	}
}
