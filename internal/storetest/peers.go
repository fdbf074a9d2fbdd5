package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// cutTries is how often a client tries to create a key at a member that is cut off, and tryTimeout how
// long it waits for each reply.
const (
	cutTries   = 3
	tryTimeout = time.Second
)

// CutOff cuts a member off from the others, which has to be one that the others can do without, and
// restores the links. create returns a request to create a key, and list lists the keys. While the
// member is cut off, a client of all members gets on, and the member carries out nothing: of two
// clients that create a key, at the member and elsewhere, only the latter may succeed. In the end the
// client of the member sees what the others have done, if the member serves clients: see follows. It
// returns false if the member never does, because of a defect of the product ([Fleet.Stalled]).
func (f *Fleet) CutOff(node int, follows bool, create func(key string) env.StoreRequest, list env.StoreRequest) bool {
	t := f.T
	t.Helper()
	name := func(key string) string { return fmt.Sprintf("%s%d-%s", list.Key, node, key) }
	f.Insist(create(name("before")))
	there := f.ConnectTo(f.Servers[node-1].Addr())
	f.Peers.Cut(&nemesis.PeerPartition{Nodes: []int{node}})
	began := time.Now()
	f.mustNotCreate(there, create(name("lock")))
	f.Insist(create(name("lock")))
	t.Logf("a client got on %v after member %d was cut off", time.Since(began), node)
	f.mustNotCreate(there, create(name("late")))
	want := []string{name("before"), name("lock")}
	if got := f.keysOf(node, f.Insist(list)); !slices.Equal(got, want) {
		t.Errorf("the others have %q, not %q", got, want)
	}
	f.Peers.Mend()
	began = time.Now()
	if follows {
		if !f.catchesUp(node, want, func() (env.StoreReply, error) { return Try(t, there, tryTimeout, list) }) {
			return false
		}
		t.Logf("the member had caught up after %v", time.Since(began))
	}
	f.Insist(create(name("after")))
	return true
}

// catchesUp waits until a member has the keys, and returns false if it is stalled for ever.
func (f *Fleet) catchesUp(node int, want []string, list func() (env.StoreReply, error)) bool {
	f.T.Helper()
	said := ""
	caughtUp := patiently(func() bool {
		reply, err := list()
		got := f.keysOf(node, reply)
		said = fmt.Sprintf("%q, error %v", got, err)
		return err == nil && slices.Contains(got, want[0]) && slices.Contains(got, want[1])
	})
	if caughtUp {
		return true
	}
	if logs := Logs(f.T); f.Stalled == nil || !f.Stalled(logs) {
		f.T.Fatalf("after %v member %d has still not caught up; its last list: %s%s", Patience, node, said, logs)
	}
	f.T.Logf("member %d is stalled by a defect of the product; its last list: %s", node, said)
	return false
}

// mustNotCreate tries a few times to create a key at a member that is cut off.
func (f *Fleet) mustNotCreate(there live.StoreClient, r env.StoreRequest) {
	f.T.Helper()
	for range cutTries {
		if reply, err := Try(f.T, there, tryTimeout, r); err == nil {
			f.T.Fatalf("the member that is cut off replied to the creation of %q with %+v", r.Key, reply)
		}
	}
}

// keysOf returns the keys of CutOff for a member, in their order.
func (f *Fleet) keysOf(node int, reply env.StoreReply) (keys []string) {
	for _, e := range reply.Entries {
		if strings.Contains(e.Key, fmt.Sprintf("%d-", node)) {
			keys = append(keys, e.Key)
		}
	}
	slices.Sort(keys)
	return keys
}
