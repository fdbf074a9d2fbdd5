//go:build linux

package zookeeper

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

// Each change is reported once and in order: that of a client apart from the end of a session.
func TestWatch(t *testing.T) {
	f := openFleet(t, 3)
	session := f.OpenSession(ttl)
	other := &fleet{&storetest.Fleet{Fleet: f.Fleet.Fleet, T: t, Client: f.Connect()}}
	short := other.OpenSession(5 * time.Second)
	a := f.Create(env.StoreRequest{Key: "a/x-", Value: "first/1", Session: session, Sequential: true})
	l := f.Watch() // what is there already is reported
	b := other.Create(env.StoreRequest{Key: "a/y-", Value: "second", Session: short, Sequential: true})
	f.Create(env.StoreRequest{Key: "top", Value: "third", Session: session})
	f.Declined(env.StoreRequest{Op: env.StoreCreate, Key: "top", Value: "fourth", Session: session})
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: a.Key, Revision: a.Revision})
	f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: a.Key})
	if err := other.Client.Close(); err != nil {
		t.Error(err)
	}
	other.Client = f.Connect()
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: b.Key, Revision: b.Revision})
	l.Expect("entry-set first/1", "entry-set second", "entry-set third", "entry-deleted first/1", "entry-gone second session over")
}

// A watch goes on at another member. Of what happens in between it reports the result.
func TestWatchOfAnotherMember(t *testing.T) {
	f := openFleet(t, 3)
	l := f.Watch()
	var want []string
	for i := range f.Servers {
		f.server(i + 1).Kill()
		key := string(rune('a' + i))
		f.Insist(env.StoreRequest{Op: env.StoreCreate, Key: "b/" + key, Value: key})
		want = append(want, "entry-set "+key)
		l.Expect(want...)
		if err := f.server(i + 1).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
