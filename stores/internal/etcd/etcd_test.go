//go:build linux

package etcd

import (
	"context"
	"errors"
	"reflect"
	"slices"
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
	if first, err := statusOf(t.Context(), f.Servers[0].(*Server)); err != nil || first.Leader != first.Header.MemberId {
		t.Errorf("%+v, %v", first, err)
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

func TestMissingServer(t *testing.T) {
	storetest.MissingServer(t, open, version, "etcd-server")
}

func TestBrokenServer(t *testing.T) {
	storetest.BrokenServer(t, "etcd", storetest.InPath, open)
}

func creation(key string) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: "v"}
}

// A member that is cut off carries out nothing, whether it led or not. The others go on, with another
// leader; leases last.
func TestMemberIsCutOff(t *testing.T) {
	f := storetest.Open(t, open)
	session := f.OpenSession(long)
	for node := range f.Servers { // one of them leads
		f.CutOff(node+1, true, creation, listA)
	}
	if reply := f.Insist(env.StoreRequest{Op: env.StoreKeep, Session: session}); !reply.Done {
		t.Error("the lease is over")
	}
}

// A member that is cut off answers serializable reads from the state that it had, and no others.
func TestSerializableRead(t *testing.T) {
	f := storetest.Open(t, open)
	there := f.ConnectTo(f.Servers[2].Addr())
	read := listA
	read.Serializable = true
	keys := func() (keys []string) {
		reply, err := storetest.Try(t, there, storetest.Patience, read)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range reply.Entries {
			keys = append(keys, e.Key)
		}
		return keys
	}
	f.Insist(creation("a/1"))
	storetest.Eventually(t, "the member has the entry", func() bool { return len(keys()) == 1 })
	f.Peers.Cut(&nemesis.PeerPartition{Nodes: []int{3}})
	f.Insist(creation("a/2"))
	for range 5 {
		if got := keys(); !slices.Equal(got, []string{"a/1"}) {
			t.Errorf("it has %q", got)
		}
	}
	if reply, err := storetest.Try(t, there, time.Second, listA); err == nil {
		t.Errorf("it replied to another read with %+v", reply)
	}
	f.Peers.Mend()
	storetest.Eventually(t, "the member has caught up", func() bool { return len(keys()) == 2 })
}

// Each change is reported once and in order, also while members are killed: that of a client apart
// from the end of a session.
func TestWatch(t *testing.T) {
	f := storetest.Open(t, open)
	session, short := f.OpenSession(long), f.OpenSession(time.Second)
	a := f.Create(env.StoreRequest{Key: "a/1", Value: "first", Session: session})
	l := f.Watch() // from the beginning all the same
	f.Create(env.StoreRequest{Key: "a/2", Value: "second", Session: short})
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: "a/1", Revision: a.Revision})
	f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: "a/1"})
	want := []string{"entry-set first", "entry-set second", "entry-deleted first", "entry-gone second session over"}
	storetest.Eventually(t, "the session is over", func() bool { return len(f.Ask(listA).Entries) == 0 })
	l.Expect(want...)
	for i, server := range f.Servers { // one of them is watched, and one leads
		server.(*Server).Kill()
		key := string(rune('a' + i))
		f.Insist(env.StoreRequest{Op: env.StoreCreate, Key: "b/" + key, Value: key, Session: session})
		want = append(want, "entry-set "+key)
		l.Expect(want...)
		if err := server.(*Server).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
