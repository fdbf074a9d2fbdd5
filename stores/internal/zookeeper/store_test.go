//go:build linux

package zookeeper

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/stores/internal/storetest"
)

// ttl is longer than any test takes on a busy machine: only a heartbeat lets a session go on.
const ttl = 10 * time.Minute

func TestOperations(t *testing.T) {
	began := time.Now()
	f := openFleet(t, 3)
	t.Logf("three members served after %v", time.Since(began))
	session := f.OpenSession(ttl)
	f.Done(env.StoreRequest{Op: env.StoreKeep, Session: session})

	if empty := f.Done(env.StoreRequest{Op: env.StoreList, Key: "a/"}); len(empty.Entries) > 0 {
		t.Errorf("there are entries already: %v", empty)
	}
	var all []env.Entry
	for _, r := range []env.StoreRequest{
		{Key: "a/z", Value: "first", Session: session},
		{Key: "a/z-", Value: "second", Session: session, Sequential: true},
		{Key: "a/m-", Value: "third", Sequential: true},
		{Key: "a/a", Value: "fourth"},
		{Key: "a/z-", Value: "fifth", Session: session, Sequential: true},
	} {
		e := f.Create(r)
		if e.Value != r.Value || e.Session != r.Session || !strings.HasPrefix(e.Key, r.Key) || r.Sequential != (e.Key != r.Key) {
			t.Errorf("%+v created %+v", r, e)
		}
		if len(all) > 0 && e.Revision <= all[len(all)-1].Revision {
			t.Errorf("the revision does not increase: %+v after %+v", e, all[len(all)-1])
		}
		all = append(all, e)
	}
	list := func(prefix string, want ...env.Entry) {
		t.Helper()
		if got := f.Done(env.StoreRequest{Op: env.StoreList, Key: prefix}).Entries; !reflect.DeepEqual(got, slices.Clip(want)) {
			t.Errorf("below %q there are %+v, not %+v", prefix, got, want)
		}
	}
	list("a/", all...)
	list("a/z-", all[1], all[4])

	if there := f.Declined(env.StoreRequest{Op: env.StoreCreate, Key: "a/z", Value: "other", Session: session}); !reflect.DeepEqual(there.Entries, all[:1]) {
		t.Errorf("instead of a second entry there is %+v", there)
	}
	top := f.Create(env.StoreRequest{Key: "top", Value: "without a parent", Session: session})
	list("top", top)

	f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: "a/z", Revision: all[0].Revision + 1})
	f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: "a/y"})
	f.Declined(env.StoreRequest{Op: env.StoreDelete, Key: "a/y", Revision: 1})
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: "a/z", Revision: all[0].Revision})
	f.Done(env.StoreRequest{Op: env.StoreDelete, Key: "a/a"})
	list("a/", all[1], all[2], all[4])

	again := f.Create(env.StoreRequest{Key: "a/z", Session: session})
	if again.Revision <= top.Revision {
		t.Errorf("the revision does not increase: %+v", again)
	}
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: "a/z", Revision: all[0].Revision})
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: "a/none", Revision: 1})

	f.Done(env.StoreRequest{Op: env.StoreClose, Session: session})
	list("a/", all[2])
	f.Declined(env.StoreRequest{Op: env.StoreClose, Session: session})
	f.Declined(env.StoreRequest{Op: env.StoreKeep, Session: session})
	if r := f.Declined(env.StoreRequest{Op: env.StoreCreate, Key: "a/x", Session: session}); len(r.Entries) > 0 {
		t.Errorf("there is %v already", r.Entries)
	}
	f.Declined(env.StoreRequest{Op: env.StoreKeep, Session: 1})
}

func TestAwait(t *testing.T) {
	f := openFleet(t, 1)
	other := &fleet{&storetest.Fleet{Fleet: f.Fleet.Fleet, T: t, Client: f.Connect()}}
	for name, remove := range map[string]func(session uint64, e env.Entry){
		"deleted": func(_ uint64, e env.Entry) {
			other.Done(env.StoreRequest{Op: env.StoreDelete, Key: e.Key, Revision: e.Revision})
		},
		"session closed": func(session uint64, _ env.Entry) {
			other.Done(env.StoreRequest{Op: env.StoreClose, Session: session})
		},
		"session expired": func(uint64, env.Entry) {
			if err := other.Client.Close(); err != nil {
				t.Error(err)
			}
			other.Client = f.Connect()
		},
	} {
		t.Run(name, func(t *testing.T) {
			session := other.OpenSession(5 * time.Second)
			e := other.Create(env.StoreRequest{Key: "a/x-", Sequential: true, Session: session})
			r := env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision}
			if reply, err := storetest.Try(t, f.Client, 50*time.Millisecond, r); err == nil {
				t.Fatalf("the wait is over before the entry is gone: %+v", reply)
			}
			gone := make(chan env.StoreReply)
			go func() {
				defer close(gone)
				if reply, err := storetest.Try(t, f.Client, storetest.Patience, r); err == nil {
					gone <- reply
				} else {
					t.Error(err)
				}
			}()
			remove(session, e)
			if reply := <-gone; !reply.Done {
				t.Errorf("the wait ends with %+v", reply)
			}
			if left := f.Done(env.StoreRequest{Op: env.StoreList, Key: "a/"}).Entries; len(left) > 0 {
				t.Errorf("there is still %v", left)
			}
		})
	}
}

func TestExpiredSession(t *testing.T) {
	f := openFleet(t, 1)
	link := &cable{}
	client, err := f.Store.Connect([]string{f.server(1).Addr()}, link.dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	cutOff := &fleet{&storetest.Fleet{Fleet: f.Fleet.Fleet, T: t, Client: client}}
	session := cutOff.OpenSession(5 * time.Second)
	e := cutOff.Create(env.StoreRequest{Key: "a/x", Session: session})
	link.set(true)
	f.Done(env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision})
	if _, err := storetest.Try(t, client, storetest.Patience, env.StoreRequest{Op: env.StoreList, Key: "a/"}); !errors.Is(err, env.ErrNoLeader) {
		t.Errorf("without a network: %v", err)
	}
	link.set(false)
	if r := cutOff.Declined(env.StoreRequest{Op: env.StoreCreate, Key: "a/x", Session: session}); len(r.Entries) > 0 {
		t.Errorf("there is %v already", r.Entries)
	}
	cutOff.Declined(env.StoreRequest{Op: env.StoreKeep, Session: session})
	if left := cutOff.Done(env.StoreRequest{Op: env.StoreList, Key: "a/"}).Entries; len(left) > 0 {
		t.Errorf("there is still %v", left)
	}
}

// cable connects a client unless it is cut.
type cable struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (c *cable) dial(ctx context.Context, addr string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return nil, errors.New("the cable is cut")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

// A session for which nobody sends heartbeats ends, although its client lives and the library sends
// pings.
func TestSessionWithoutHeartbeatsEnds(t *testing.T) {
	f := openFleet(t, 3)
	session := f.OpenSession(time.Second)
	e := f.Create(env.StoreRequest{Key: "lock/held", Value: "by nobody", Session: session})
	f.Client = f.Connect()
	if reply := f.Ask(env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision}); !reply.Done {
		t.Error("the entry is still there")
	}
}

func TestUnsupported(t *testing.T) {
	c, err := Store{}.Connect([]string{"127.0.0.1:1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []env.StoreRequest{
		{Op: env.StoreSweep, Key: "a"},
		{Op: env.StoreCreate, Key: "a", TTL: time.Second},
		{Op: env.StoreCreate, Key: "a", Session: 1, Delay: time.Second},
		{},
	} {
		if _, err := c.Do(t.Context(), r); !errors.Is(err, live.ErrStoreOp) || !strings.Contains(err.Error(), "zookeeper: "+r.Op.String()) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
