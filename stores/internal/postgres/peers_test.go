//go:build linux

package postgres

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

func creation(key string) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: "v"}
}

var listA = env.StoreRequest{Op: env.StoreList, Key: "a/"}

// A primary that is cut off carries out nothing. The others go on with another primary, which it
// follows when it is back.
func TestPrimaryIsCutOff(t *testing.T) {
	f := openFleet(t, setting(3))
	leader := 1
	for range 3 {
		f.CutOff(leader, false, creation, listA)
		next := f.leader(leader)
		f.inSync(next)
		leader = next
	}
	for node := 1; node <= 3; node++ {
		storetest.Eventually(t, "a deposed primary is a standby, when it is rebuilt", func() bool {
			var standby bool
			return f.server(node).ask(t.Context(), "select pg_is_in_recovery()", &standby) == nil && standby == (node != leader)
		})
	}
}

// A standby that is cut off changes nothing, and catches up when it is back.
func TestStandbyIsCutOff(t *testing.T) {
	f := openFleet(t, setting(3))
	f.CutOff(2, false, creation, listA)
	f.inSync(1)
	storetest.Eventually(t, "the standby has all entries", func() bool {
		var n int
		return f.server(2).ask(t.Context(), "select count(*) from entries", &n) == nil && n == 3
	})
	if led := f.led(); len(led) > 0 {
		t.Errorf("leaders were %v", led)
	}
}

// What the manager prevents by demoting a primary that is cut off: if a standby is promoted beside it, two
// clients hold the same advisory lock, which is not replicated, and, if the old primary waits for no
// standby, the same row and the same lease.
func TestTwoPrimaries(t *testing.T) {
	row := env.StoreRequest{Op: env.StoreCreate, Key: "row", Value: "v", TTL: time.Hour}
	lease := env.StoreRequest{Op: env.StoreCreate, Key: "lease", Value: "v", TTL: time.Hour, Expires: true}
	for name, c := range map[string]struct {
		change func(*nemesis.Setting)
		both   []env.StoreRequest // creations that both primaries carry out
		never  []env.StoreRequest // creations that the old one does not
	}{
		"synchronous":  {func(*nemesis.Setting) {}, nil, []env.StoreRequest{row, lease}},
		"asynchronous": {asynchronous, []env.StoreRequest{row, lease}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := openFleet(t, setting(3, c.change))
			f.promoteBeside(2)
			before, after := f.ConnectTo(f.server(1).Addr()), f.ConnectTo(f.server(2).Addr())
			for _, client := range []live.StoreClient{before, after} {
				if !f.open(client, env.SessionConnection, time.Hour).ask(env.StoreCreate, "lock") {
					t.Error("a primary did not give the advisory lock")
				}
				for _, r := range c.both {
					if reply, err := storetest.Try(t, client, storetest.Patience, r); err != nil || !reply.Done {
						t.Errorf("a primary did not create the %s: %+v, %v", r.Key, reply, err)
					}
				}
			}
			for _, r := range c.never {
				if reply, err := storetest.Try(t, before, time.Second, r); err == nil {
					t.Errorf("the old primary replied to the creation of the %s: %+v", r.Key, reply)
				}
			}
		})
	}
}

// promoteBeside cuts node 1, the primary, off from the others, behind the manager's back, and promotes
// one of them.
func (f *fleet) promoteBeside(node int) {
	f.T.Helper()
	for _, s := range f.Servers {
		s.(*Server).link.Each(nemesis.Both, func(d *wire.Direction) { d.Impose(cutRule, nemesis.HoldAll()) })
	}
	var done bool
	if err := f.server(node).ask(f.T.Context(), "select pg_promote(false)", &done); err != nil {
		f.T.Fatal(err)
	}
	storetest.Eventually(f.T, "the standby is a primary", func() bool {
		var standby bool
		return f.server(node).ask(f.T.Context(), "select pg_is_in_recovery()", &standby) == nil && !standby
	})
}
