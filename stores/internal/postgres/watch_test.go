//go:build linux

package postgres

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

// Each change is reported once and in order: that of a client apart from a sweep.
func TestWatch(t *testing.T) {
	f := openFleet(t, setting(3))
	a := f.Create(env.StoreRequest{Key: "a", Value: "first", TTL: time.Hour})
	l := f.Watch() // from the beginning all the same
	f.Create(env.StoreRequest{Key: "b", Value: "second", TTL: time.Microsecond})
	f.Declined(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "third", TTL: time.Hour})
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: "a", Revision: a.Revision})
	f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: "a"})
	storetest.Eventually(t, "the row is swept", func() bool {
		f.Done(env.StoreRequest{Op: env.StoreSweep})
		return len(f.Ask(env.StoreRequest{Op: env.StoreList}).Entries) == 0
	})
	f.Create(env.StoreRequest{Key: "a", Value: "fourth", TTL: time.Hour})
	l.Expect("entry-set first", "entry-set second", "entry-deleted first", "entry-gone second swept", "entry-set fourth")
}

// The watch reports what an asynchronous standby never had: the creation of an entry, and the
// deletion of another.
func TestWatchReportsWhatAFailoverLoses(t *testing.T) {
	led := openFleet(t, setting(3, asynchronous))
	f := led
	early := f.Create(env.StoreRequest{Key: "a", Value: "early"})
	storetest.Eventually(t, "the first entry has arrived", func() bool {
		var n int
		return led.server(2).ask(t.Context(), "select count(*) from entries", &n) == nil && n == 1 &&
			led.server(3).ask(t.Context(), "select count(*) from entries", &n) == nil && n == 1
	})
	l := f.Watch()
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: "a", Revision: early.Revision})
	f.Create(env.StoreRequest{Key: "b", Value: "late"})
	l.Expect("entry-set early", "entry-deleted early", "entry-set late")
	led.server(1).Kill()
	led.leader(1)
	l.Expect("entry-set early", "entry-deleted early", "entry-set late", "entry-set early rolled back", "entry-gone late forgotten")
}
