// Package redis runs replicated deployments of Redis as processes of this machine, which fail
// over by themselves, and connects clients to the master.
//
//	fleet, err := Store{Cluster: true}.Open(ctx, setting, seed)
//	...
//	world, err := live.Open(setting, seed, sink, fleet, Store{Cluster: true}.Handlers())
//
// There are two products:
//
//   - [Store]{}, "redis-sentinel". Node 1 is the master, all others are its replicas. Beside each
//     redis-server runs a Sentinel. When a majority of them cannot reach the master, they promote a
//     replica. A fault of a node affects its Sentinel, too.
//   - [Store]{Cluster: true}, "redis-cluster". Node 1 is the master of all slots that keys use. Nodes
//     2 and 3 are masters of one unused slot each, because masters with slots elect the replica that
//     takes over. All others are replicas of node 1.
//
// Lockstorm promotes nothing, unless a plan has the master of a cluster hand over (CLUSTER FAILOVER). The
// times of Sentinel and of the cluster are short and fixed here: the setting's election is ignored.
//
// An entry of [env.Store] is a string with a TTL. Its revision is drawn from a counter (INCR) by the
// script that creates or renews it. Scripts that renew and delete compare the revision and, like the
// lock on the page of SET, the value, which the client remembers. Sessions, sequential keys, rows that
// are swept, and lock-delays do not exist. StoreAwait polls.
//
// # Replication
//
// With asynchronous replication the master's reply is that of the request. Otherwise the client sends
// WAIT after each reply, for as many replicas as make a majority of the copies with the master:
// (majority − 1) of all members with Sentinel, of node 1 and its replicas with Cluster. With fewer
// acknowledgements the request may have taken effect. A list draws a revision, so that WAIT has
// something to confirm: a client that looks for its entry after a lost reply must not find it on a
// master that nobody follows any more.
//
// With a rule of acknowledgements an asynchronous client sends ROLE with each request, and then WAIT for as many of
// the connected replicas as the rule says. Replicas have priorities in the order of their numbers then, as if the next
// one stood in the master's data centre. Sentinel compares priorities before offsets.
//
// Members reach each other over links that delay everything that a member sends by the setting's
// commit time, except the cluster bus. What is on its way from a member that is killed is lost, as
// if its machine had failed. The setting's persistence says what a server finds when it starts.
//
// # What holds
//
// Mutual exclusion holds as long as no failover loses a key and there is one master. Neither product
// promises that:
//
//   - Asynchronous replication loses what no replica had received that takes part in the failover.
//     [Sentinel's page]: "Sentinel + Redis distributed system does not guarantee that acknowledged
//     writes are retained during failures". The [specification of Redis Cluster], section "Write
//     safety", describes the same window.
//   - WAIT does not make Redis a strongly consistent store, says [the page of WAIT]. Sentinel and
//     Cluster prefer the replica with the highest offset among those that they reach, as far as they
//     know the offsets, and no vote depends on an offset. So a replica without an acknowledged write
//     can be promoted. A majority of acknowledgements makes that rare.
//   - A replica has acknowledged what it has in memory, not on its disk.
//   - An old master that the others cannot reach, or that was stopped, replies until it is demoted:
//     Sentinel's page, "Example 2: basic setup with three boxes". With asynchronous replication it
//     gives away keys that the new master gives away, too. min-replicas-to-write bounds that time, but
//     is not set here. With WAIT its replies do not count, because nobody acknowledges. With Cluster a
//     master that is cut off from the other masters refuses requests after the node timeout.
//   - After a failover that loses changes the counter has gone back, so a revision can be used twice,
//     and fences do not increase.
//   - A failover can also lose the deletion of a key, which then blocks everybody until it expires.
//   - Keys expire by the wall clock of the master, whose clock is not set here. A failover does not
//     prolong their lives.
//
// # Clients
//
// A client asks a member for its ROLE when it connects. A replica names its master, as Sentinel has
// configured it, and the client connects to that one. A real client asks a Sentinel instead, but here
// clients have links to the redis-servers only. So a client that comes first to an old master which is back
// and has not been demoted uses it; by the source Sentinel waits 8 seconds before it demotes
// one. A client stays with its master as long as requests succeed. Sentinel closes the connections
// of a master that it demotes (CLIENT KILL).
//
// With Cluster the client follows MOVED. Nothing moves a slot to another master but a failover. Ports in
// replies are those that members announce to each other; the client learns by CONFIG GET which member
// announces which.
//
// # Times
//
// Sentinel promotes a replica 0.8 s after the master has died, or a second later if the Sentinels did
// not notice it at once: they ask each other once a second. The other replicas follow a second later,
// because Sentinel looks once a second whether the promotion has succeeded.
//
// # Differences from real deployments
//
//   - The Sentinels start with a configuration that names the replicas and each other, and the
//     members of a cluster with a nodes.conf. It takes Sentinels up to 10 s to find them.
//   - A Sentinel that was stopped for more than 2 s does nothing for 30 s afterwards (TILT).
//
// [Sentinel's page]: https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/
// [specification of Redis Cluster]: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
// [the page of WAIT]: https://redis.io/docs/latest/commands/wait/
package redis
