package locks

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/servers/stores"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/etcdtest"
	"github.com/lockstorm/lockstorm/locktest/postgrestest"
	"github.com/lockstorm/lockstorm/locktest/zookeepertest"
)

// InStores are all locks that are kept in stores. Time is real there, so each is tried in few
// storms.
func InStores() []Subject {
	const etcd, zookeeper, rows, connections = "go.etcd.io/etcd/client/v3", "github.com/go-zookeeper/zk", "cirello.io/pglock", "github.com/allisson/go-pglock/v3"
	list := slices.Concat(kubernetesLocks, []Subject{
		{Name: "etcd-mutex", Library: etcd, How: "concurrency.Mutex with a session for each hold, whose Done reports the loss, on 3 members of etcd", Store: etcdtest.Store, Open: openEtcd},
		{Name: "zk-lock", Library: zookeeper, How: "zk.Lock, on 3 members of ZooKeeper", Store: zookeepertest.Store, Open: openZooKeeper},
		{Name: "zk-lock-watched", Library: zookeeper, How: "the same, and the event that the connection is lost counts as the loss of the lock", Store: zookeepertest.Store, Open: openZooKeeperWatched},
		{Name: "pglock", Library: rows, How: "Client.Do with a heartbeat each quarter of the lease, whose context reports the loss, over lib/pq, on PostgreSQL with 2 synchronous standbys", Store: postgrestest.Store, Open: openPglock},
		{Name: "go-pglock", Library: connections, How: "an advisory lock of a connection, over lib/pq, on PostgreSQL with 2 synchronous standbys", Store: postgrestest.Store, Open: openAdvisory},
	})
	for i := range list {
		list[i].Nodes, list[i].Backend = 3, locktest.Process
	}
	return list
}

// StorePage is the page about them.
var StorePage = Page{
	Head:        (*Board).storeHead,
	Setting:     storeSetting,
	Outages:     []string{"node-comes-back-late", "holder-cut-off"},
	OutagesMean: "A lock that tells its holder nothing counts as held until it is released, so in *holder-cut-off* the wait of others for the end of a session or a connection is no outage of etcd-mutex, zk-lock and go-pglock. With pglock a waiting client looks once in a lease. With client-go-kept the record of the last holder keeps others out for a LeaseDuration.",
	Works:       "Of *short* work three clients do a tenth of a TTL at a time; of *long* work two do two to four TTLs, or three to six in *holder-cut-off-later*.",
	Args:        " -args -stores",
}

func (b *Board) storeHead(out *strings.Builder) {
	runs := 0
	for _, t := range b.Trials {
		runs += t.Tally.Runs
	}
	fmt.Fprintf(out, `# The scoreboard of locks in stores

Made by `+"`make scoreboard-stores`"+` with %s: %s runs of %d locks in storms of [locktest](../../locktest), on real servers of etcd, ZooKeeper and PostgreSQL, behind proxies on loopback. [bench/locks](../../bench/locks) has the locks, the storms and the findings; the adapters of most are [modules for your own tests](../test-your-lock.md#test-a-lock-library). Its test, `+"`go -C bench test -tags kubernetes ./locks -args -stores`"+`, runs all storms and fails if a verdict differs from this page. Locks on Redis are on [a page of their own](scoreboard.md).

A property is *violated* if some run violated it, and *holds* if no run violated it, which is no proof. The codes are those of the [properties](../../README.md#properties). None of these locks reports an end of validity, so V1 and V2 count a hold until its release or the notice of its loss. V3 asks whether an update of the guarded resource was lost by holders that ask the lock just before they write. C limits each release to one TTL. L3, and whether a release reports the truth, are not judged, because nobody knows how these locks name their entries. V4 is omitted, because only etcd-mutex has a fence.

`, runtime.Version(), textfmt.Grouped(runs), len(b.Subjects))
}

// storeSetting names the TTL and the servers with their versions.
func storeSetting(map[string]string) string {
	var servers []string
	for _, s := range InStores() {
		p, _ := stores.Named(s.Store.String())
		if text := fmt.Sprintf("%s %s", p.Product, p.Version(context.Background())); !slices.Contains(servers, text) {
			servers = append(servers, text)
		}
	}
	return fmt.Sprintf("The TTL is %s. The servers are %s.", textfmt.Duration(briefTTL), strings.Join(servers, ", "))
}
