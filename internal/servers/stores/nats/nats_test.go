//go:build linux

package nats

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/storetest"
	"github.com/lockstorm/lockstorm/nemesis"
)

func open(ctx context.Context) (live.Fleet, error) { return Open(ctx, nemesis.Setting{Nodes: 3}, 1) }

func openMarkers(ctx context.Context) (live.Fleet, error) {
	return OpenMarkers(ctx, nemesis.Setting{Nodes: 3}, 1)
}

// each runs a test for both ways to delete keys.
func each(t *testing.T, test func(t *testing.T, open func(context.Context) (live.Fleet, error))) {
	t.Run("messages", func(t *testing.T) { test(t, open) })
	t.Run("markers", func(t *testing.T) { test(t, openMarkers) })
}

func TestMain(m *testing.M) { storetest.OrphanMain(m, open) }

// A program that is killed leaves no servers and no files.
func TestNothingSurvivesAProgramThatIsKilled(t *testing.T) { storetest.NothingSurvives(t, 3) }

var listA = env.StoreRequest{Op: env.StoreList, Key: "a/"}

// Keys are created once, renewed and deleted at their latest revision, and created again.
// Revisions grow over all keys.
func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, open func(context.Context) (live.Fleet, error)) {
		f := storetest.Open(t, open)
		if reply := f.Ask(listA); !reply.Done || len(reply.Entries) > 0 {
			t.Errorf("an empty store lists %+v", reply)
		}
		f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: "a/x"})
		first := f.Create(storetest.Expiring("a/x", "first", storetest.Long))
		if there := f.Declined(storetest.Expiring("a/x", "again", storetest.Long)); !reflect.DeepEqual(there.Entries, []env.Entry{first}) {
			t.Errorf("a create of a taken key shows %+v, not %+v", there.Entries, first)
		}
		other := f.Create(storetest.Expiring("b %=é.*>", "other", storetest.Long))
		renewed := f.Done(storetest.Renewal(first, storetest.Long)).Entries[0]
		if renewed.Revision <= other.Revision || other.Revision <= first.Revision || renewed.Key != first.Key || renewed.Value != first.Value {
			t.Errorf("%+v, then %+v, then renewed as %+v", first, other, renewed)
		}
		f.Declined(storetest.Renewal(first, storetest.Long))
		f.Declined(storetest.Deletion(first))
		f.Declined(storetest.Deletion(env.Entry{Key: "a/x", Revision: 1 << 40})) // a number that the stream has not reached
		if got := f.Ask(env.StoreRequest{Op: env.StoreList}).Entries; !reflect.DeepEqual(got, []env.Entry{other, renewed}) {
			t.Errorf("listed %+v", got)
		}
		f.Done(storetest.Deletion(renewed))
		f.Declined(storetest.Deletion(renewed))
		f.Declined(storetest.Renewal(renewed, storetest.Long))
		again := f.Create(storetest.Expiring("a/x", "third", storetest.Long))
		if got := f.Ask(listA).Entries; !reflect.DeepEqual(got, []env.Entry{again}) || again.Revision <= renewed.Revision {
			t.Errorf("listed %+v, after %+v was created", got, again)
		}
		f.Done(env.StoreRequest{Op: env.StoreDelete, Key: "a/x"})
		f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: "a/x"})
	})
}

// A key expires by itself, and lives as long as it is renewed.
func TestKeyExpires(t *testing.T) {
	each(t, func(t *testing.T, open func(context.Context) (live.Fleet, error)) {
		const ttl = 2 * time.Second
		f := storetest.Open(t, open)
		e := f.Create(storetest.Expiring("a/x", "v", ttl))
		begin := time.Now()
		for last := begin; time.Since(begin) < 2*ttl; time.Sleep(ttl / 8) {
			sent := time.Now()
			reply := f.Ask(storetest.Renewal(e, ttl/2)) // it lives for the bucket's TTL
			switch {
			case reply.Done:
				e, last = reply.Entries[0], sent
			case time.Since(last) < ttl:
				t.Fatalf("declined within the TTL of the last renewal")
			default:
				t.Skip("this machine was too slow to renew the key in time")
			}
		}
		storetest.Eventually(t, "the key is gone", func() bool { return len(f.Ask(listA).Entries) == 0 })
		f.Declined(storetest.Renewal(e, ttl))
		f.Declined(storetest.Deletion(e))
		if next := f.Create(storetest.Expiring("a/x", "w", ttl)); next.Revision <= e.Revision {
			t.Errorf("%+v after %+v", next, e)
		}
	})
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
			for attempt := 1; !membersTakeTurns(t, c.leave, c.comeIn); attempt++ {
				if attempt == maxStalls {
					t.Fatalf("%d clusters in a row have elected no leader", attempt)
				}
			}
		})
	}
}

// Members of nats-server 2.9 sometimes vote for ever, although a majority is there (nats-server issue
// 3943, mended in later versions): in about one of ten runs with members that were stopped and
// continued. Then the test begins anew with another cluster.
const (
	stalled   = "has NO quorum, stalled" // in the log of a member
	maxStalls = 4
)

// membersTakeTurns takes away one member after another, and lets each come back. It returns false if the
// rest elects no leader.
func membersTakeTurns(t *testing.T, leave, comeIn func(*Server) error) bool {
	f := storetest.Open(t, open)
	ask := func(r env.StoreRequest) (env.StoreReply, bool) {
		reply, err := f.InsistFor(storetest.Patience/3, r)
		if err != nil && !strings.Contains(storetest.Logs(t), stalled) {
			t.Fatalf("%v of %q: %v%s", r.Op, r.Key, err, storetest.Logs(t))
		}
		return reply, err == nil
	}
	want := []env.Entry{f.Create(storetest.Expiring("a/1", "first", storetest.Long))}
	for i, key := range []string{"a/2", "a/3", "a/4"} { // one of the members led
		away := f.Servers[i].(*Server)
		if err := leave(away); err != nil {
			t.Fatal(err)
		}
		var reply env.StoreReply
		for _, r := range []env.StoreRequest{listA, storetest.Expiring(key, "", storetest.Long), listA} { // the creation perhaps twice
			var answered bool
			if reply, answered = ask(r); !answered {
				return false
			}
		}
		got := reply.Entries
		if len(got) != len(want)+1 || !reflect.DeepEqual(got[:len(want)], want) || got[len(want)].Key != key {
			t.Fatalf("there are %+v, not %+v and %s", got, want, key)
		}
		want = got
		if err := comeIn(away); err != nil {
			t.Fatal(err)
		}
	}
	return true
}

// Without a quorum requests are refused, or not answered, and nothing is done.
func TestNoQuorum(t *testing.T) {
	f := storetest.Open(t, open)
	f.Create(storetest.Expiring("a/x", "v", storetest.Long))
	f.Servers[1].(*Server).Kill()
	f.Servers[2].(*Server).Kill()
	storetest.Eventually(t, "a request is refused", func() bool {
		_, err := storetest.Try(t, f.Client, time.Second, storetest.Expiring("a/y", "v", storetest.Long))
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
	e := f.Create(storetest.Expiring("a/x", "v", storetest.Long))
	for _, r := range []env.StoreRequest{
		{Op: env.StoreOpen, TTL: time.Second},
		{Op: env.StoreSweep, Key: "a"},
		{Op: env.StoreAwait, Key: "a", Revision: 1},
		{Op: env.StoreCreate, Key: "a"},
		{Op: env.StoreCreate, Key: "a", TTL: storetest.Long},
		{Op: env.StoreCreate, Key: "a", TTL: storetest.Long, Expires: true, Sequential: true},
		{Op: env.StoreCreate, Key: "a", TTL: storetest.Long, Expires: true, Session: 1},
		storetest.Expiring("a", "v", 2*storetest.Long),
		storetest.Renewal(e, 2*storetest.Long),
	} {
		if _, err := storetest.Try(t, f.Client, storetest.Patience, r); !errors.Is(err, live.ErrStoreOp) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// One member is no cluster, and more than five replicas do not exist.
func TestNumberOfMembers(t *testing.T) {
	f := storetest.Open(t, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, nemesis.Setting{Nodes: 1}, 1) })
	f.Create(storetest.Expiring("a/x", "v", storetest.Long))
	if _, err := Open(t.Context(), nemesis.Setting{Nodes: 6}, 1); err == nil || !strings.HasPrefix(err.Error(), "6 nodes") {
		t.Errorf("6 members: %v", err)
	}
}

func TestMissingServer(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := open(t.Context())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install nats-server") {
		t.Errorf("no line that says what to do: %v", err)
	}
	if v := version(t.Context()); v != "" {
		t.Errorf("version %q of nothing", v)
	}
}

func TestBrokenServer(t *testing.T) {
	storetest.BrokenServer(t, "nats-server", storetest.InPath, open)
}

func TestVersion(t *testing.T) {
	if v := version(t.Context()); !strings.HasPrefix(v, "2.") {
		t.Errorf("version %q", v)
	}
}

// Every key has a subject of its own.
func TestSubjects(t *testing.T) {
	for _, key := range []string{"a/b-c_D9", "", "=", "=41", "%2F", "a.b *>", "é\x00", strings.Repeat("=", 5)} {
		subject := subjectOf(key)
		if keyOf(subject) != key || strings.ContainsAny(strings.TrimPrefix(subject, subjectPrefix), " .*>%") {
			t.Errorf("%q has the subject %q, which is that of %q", key, subject, keyOf(subject))
		}
	}
}
