//go:build linux

package zookeeper

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func TestLeaderStopped(t *testing.T) {
	f := openFleet(t, 3)
	session := f.OpenSession(ttl)
	kept := f.Create(env.StoreRequest{Key: "a/x", Value: "kept", Session: session})
	old := f.leader()
	faithful := &fleet{&storetest.Fleet{Fleet: f.Fleet.Fleet, T: t, Client: f.ConnectTo(old.Addr())}}
	faithful.Done(env.StoreRequest{Op: env.StoreList, Key: "a/"})
	if err := old.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := f.Insist(env.StoreRequest{Op: env.StoreList, Key: "a/"}).Entries; !reflect.DeepEqual(got, []env.Entry{kept}) {
		t.Errorf("there are %+v, not %+v", got, kept)
	}
	if r := f.Insist(env.StoreRequest{Op: env.StoreKeep, Session: session}); !r.Done {
		t.Error("the session has gone with the leader")
	}
	next := f.Insist(env.StoreRequest{Op: env.StoreCreate, Key: "a/y", Session: session}).Entries
	stale := make(chan env.StoreReply, 1)
	go func() {
		reply, _ := storetest.Try(t, faithful.Client, storetest.Patience, env.StoreRequest{Op: env.StoreList, Key: "a/"})
		stale <- reply
	}()
	time.Sleep(50 * time.Millisecond) // for the request to be on its way; the check holds anyway
	if err := old.Continue(); err != nil {
		t.Fatal(err)
	}
	if reply := <-stale; reply.Done && len(reply.Entries) != 2 {
		t.Errorf("the old leader does not know %+v: %+v", next, reply)
	}
	storetest.Eventually(t, "the member follows", func() bool {
		status, _ := old.status(t.Context())
		return mode(status) == "follower"
	})
	f.Insist(env.StoreRequest{Op: env.StoreDelete, Key: kept.Key, Revision: kept.Revision})
	if got := f.Insist(env.StoreRequest{Op: env.StoreList, Key: "a/"}).Entries; len(got) != 1 || got[0].Key != "a/y" {
		t.Errorf("there is %+v", got)
	}
}

func TestNoQuorum(t *testing.T) {
	f := openFleet(t, 3)
	session := f.OpenSession(ttl)
	f.server(2).Kill()
	f.server(3).Quit()
	r := env.StoreRequest{Op: env.StoreCreate, Key: "a/x", Session: session}
	storetest.Eventually(t, "a request is refused", func() bool {
		_, err := storetest.Try(t, f.Client, 10*time.Second, r)
		return errors.Is(err, env.ErrNoLeader)
	})
	if err := f.server(2).Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if reply := f.Insist(r); !reply.Done && len(reply.Entries) == 0 {
		t.Error("the session has gone with the quorum")
	}
}

func TestMissingPrograms(t *testing.T) {
	storetest.MissingServer(t, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, settingOf(3), 1) }, version, "zookeeper default-jre-headless")
}

func TestBrokenServer(t *testing.T) {
	storetest.BrokenServer(t, "java", storetest.InPath, func(ctx context.Context) (live.Fleet, error) { return Open(ctx, settingOf(3), 1) })
}

// The first member leads at first.
func TestFirstMemberLeads(t *testing.T) {
	f := openFleet(t, 3)
	if leader := f.leader(); leader != f.server(1) {
		t.Errorf("%s leads, not %s", leader.Name, f.server(1).Name)
	}
}
