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
// client of the member sees what the others have done, if the member serves clients: see follows.
func (f *Fleet) CutOff(node int, follows bool, create func(key string) env.StoreRequest, list env.StoreRequest) {
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
		Eventually(t, fmt.Sprintf("member %d has caught up", node), func() bool {
			reply, err := Try(t, there, tryTimeout, list)
			got := f.keysOf(node, reply)
			return err == nil && slices.Contains(got, want[0]) && slices.Contains(got, want[1])
		})
		t.Logf("the member had caught up after %v", time.Since(began))
	}
	f.Insist(create(name("after")))
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
