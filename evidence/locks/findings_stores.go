package locks

// cutOff are the storms in which a holder is cut off from a store.
var cutOff = all("holder-cut-off", "holder-cut-off-later")

// storeFindings are those of locks in stores.
var storeFindings = []Finding{
	{
		Name: "zk-lock-tells-nothing", Kind: Defect,
		Shows: []Shown{{Subjects: all("zk-lock"), Storms: cutOff, Properties: all(v1, v2, v3)}},
		What:  "A holder is cut off. Its session expires, another client is granted the lock, and zk.Lock reports nothing: it has no signal of a loss and no question whether the lock is still held. The first holder's write is accepted, and the other's update is lost. The library reports a lost connection by an event; a holder that takes it for the loss of the lock (zk-lock-watched) is warned in time, because the connection is given up after two thirds of the session.",
		Says:  "“Lock is a mutual exclusion lock” (documentation of the type): nothing of the session.",
		Link:  "https://github.com/samuel/go-zookeeper/issues/20",
	},
	{
		Name: "zk-waits-for-a-silent-member", Kind: Defect,
		Shows: []Shown{
			{Subjects: all("zk-lock", "zk-lock-watched"), Storms: cutOff, Properties: all(contract), Seldom: true},
			{Subjects: all("zk-lock", "zk-lock-watched"), Storms: all("node-comes-back-late"), Properties: all(contract), Seldom: true},
		},
		What: "When the library connects to a member that does not answer, it waits for the handshake for ten times the time after which it gives up a connection, which is more than six sessions. It tries no other member meanwhile, the session expires, and Unlock, which takes no context, does not return. In node-comes-back-late one member is down and one does not answer, while the third would serve. With a dialer that closes a connection without a session after 400 ms, Unlock returns in time in both storms.",
		Says: "“Within the session timeout it's possible to reestablish a connection to a different server and keep the same session” (documentation of Connect).",
	},
	{
		Name: "pglock-tells-late", Kind: Defect,
		Shows: []Shown{{Subjects: all("pglock"), Storms: cutOff, Properties: all(v1, v2, v3)}},
		What:  "A holder is cut off. Its next heartbeat begins a quarter of a lease after the last one, and may take a whole lease. Others take over one lease after they have seen the last heartbeat. So the context ends too late even if the driver heeds deadlines: over pgx, with UnsafeNew, it ended 0.3 s after another was granted the lock. Over lib/pq, the driver that New asks for, a statement on a connection without answers outlasts its deadline, and the context had not ended when the work was over.",
		Says:  "“When the lock loss is detected in the heartbeat, it is going to cancel the context passed on to f” (documentation of Do); a lease is “the recommended period of time that a lock can be considered valid before being stolen by another client” (of DefaultLeaseDuration).",
	},
	{
		Name: "etcd-session-ends-late", Kind: Limit,
		Shows: []Shown{
			{Subjects: all("etcd-mutex"), Storms: cutOff, Properties: all(v1, v2), Seldom: true},
			{Subjects: all("etcd-mutex"), Storms: cutOff, Properties: all(v3), Seldom: true},
		},
		What: "A holder is cut off. The members end its lease a TTL after its last heartbeat, within half a second. The client counts the TTL from the last answer, looks only once a second whether it is over, and Session.Done closes after another client has been granted the lock. The same happened in 1 of 10 runs of node-stands-still of locktest, TTL 1 s: the leader stood still for 1.5 s between the request for the key and its reply, so the grant came when its lease was over. etcd says that its locks do not exclude such overlaps, and that the resource has to check the revision of the key. A holder that counts a TTL from the request of its last heartbeat does not overlap (the example of stores/etcdtest).",
		Says: "“It allows a situation that the server revokes the lease but the client still claims it owns the lease” (etcd's documentation, “Notes on the usage of lock and lease”).",
		Link: "https://github.com/etcd-io/etcd/issues/10811",
	},
	{
		Name: "advisory-lock-of-a-lost-connection", Kind: Limit,
		Shows: []Shown{{Subjects: all("go-pglock"), Storms: cutOff, Properties: all(v1, v2, v3)}},
		What:  "A holder is cut off. The server closes the connection when its keepalive probes are not answered, here after a TTL, and the lock is free. Nothing tells the holder, which has no reason to use the connection while it works. What the library documents is the lock of a session, and no more.",
		Says:  "“Once acquired at session level, an advisory lock is held until explicitly released or the session ends” (README, from PostgreSQL's documentation).",
	},
	{
		Name: "release-waits-for-the-store", Kind: Limit,
		Shows: []Shown{
			{Subjects: all("etcd-mutex", "pglock", "go-pglock"), Storms: cutOff, Properties: all(contract), Seldom: true},
			{Subjects: all("etcd-mutex", "pglock", "go-pglock"), Storms: all("node-comes-back-late"), Properties: all(contract), Seldom: true},
		},
		What: "A release on a connection that answers nothing waits until its context ends, or the connection works again. No library promises a time. Unlock of etcd-mutex and go-pglock return when their context ends, which is the caller's to set. Closing etcd's session can take another TTL. In node-comes-back-late a member does not answer the client while the leader is down. etcd's client sends a request to one of its members in turn, and waits for the one that it has chosen: with that member left out of Endpoints the release returns in time. lib/pq waits for it while it connects: with connect_timeout=1 the release returns in time.",
		Says: "Nothing about time. “if revoke takes longer than the ttl, lease is expired anyway” (comment in the source of Session.Close).",
	},
}
