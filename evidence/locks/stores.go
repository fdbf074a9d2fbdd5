package locks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/stores"
	"github.com/lockstorm/lockstorm/stores/etcdtest"
	"github.com/lockstorm/lockstorm/stores/postgrestest"
	"github.com/lockstorm/lockstorm/stores/zookeepertest"
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
	File: "testdata/stores.json", Subjects: InStores,
	Title: "The scoreboard of locks in stores",
	On:    "on real servers of etcd, ZooKeeper and PostgreSQL, behind proxies on loopback",
	Head:  "None of these locks reports an end of validity, so V1 and V2 count a hold until its release or the notice of its loss. V3 asks whether an update of the guarded resource was lost by holders that ask the lock just before they write. C limits each release to one TTL. L3, and whether a release reports the truth, are not judged, because nobody knows how these locks name their entries. V4 is omitted, because only etcd-mutex has a fence. Locks on Redis are on [a page of their own](scoreboard.md).",
	Time: func(s Stored) string {
		return fmt.Sprintf("The TTL is %s. The servers are %s.", textfmt.Duration(briefTTL), s.Servers)
	},
	Args:        " -args -stores",
	Servers:     storeServers,
	Outages:     []string{"node-comes-back-late", "holder-cut-off"},
	OutagesMean: "A lock that tells its holder nothing counts as held until it is released, so in *holder-cut-off* the wait of others for the end of a session or a connection is no outage of etcd-mutex, zk-lock and go-pglock. With pglock a waiting client looks once in a lease. With client-go-kept the record of the last holder keeps others out for a LeaseDuration.",
	Works:       "In *short* storms three clients work for a tenth of a TTL at a time; in *long* storms two work for two to four TTLs, or three to six in *holder-cut-off-later*.",
}

// storeServers names the servers with their versions.
func storeServers() string {
	versions := map[string]string{}
	for _, p := range stores.Products() {
		versions[p.Product] = p.Version(context.Background())
	}
	var servers []string
	for _, s := range InStores() {
		if text := s.Store.String() + " " + versions[s.Store.String()]; !slices.Contains(servers, text) {
			servers = append(servers, text)
		}
	}
	return strings.Join(servers, ", ")
}
