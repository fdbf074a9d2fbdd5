//go:build linux

package etcd

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

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
