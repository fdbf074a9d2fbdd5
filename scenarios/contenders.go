package scenarios

import (
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
)

// leased is the expectations of a lock that is a lease on nodes which lose keys and whose
// clocks jump: it ends by itself, and excludes as long as neither happens.
var leased = Expectations{
	checker.Backing: violated, checker.Lease: violated, checker.Section: violated, checker.Effect: violated,
	checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: holds,
}

// alone adds the expectations of a lock on one node: while the node is down nobody is granted it.
func alone(contract checker.Verdict) Expectations {
	return Expectations{
		checker.Backing: violated, checker.Lease: violated, checker.Section: violated, checker.Effect: violated,
		checker.DeadlockFreedom: holds, checker.FaultTolerance: violated, checker.Contract: contract,
	}
}

// quorums are Redlock and its variants.
var quorums = []Contender{
	{
		Name: "redlock", Summary: "Redlock on five nodes, all asked at once", Waits: WaitingSpins,
		Lock: quickLock, Deployment: independent(),
		Expect: leased,
	},
	{
		Name: "redlock-sequential", Summary: "Redlock that asks one node after another", Waits: WaitingSpins,
		Remark: "A release waits for one node after another: in the trial cut-off it takes three node timeouts instead of one.",
		Lock:   sequential(quickLock), Deployment: independent(),
		Expect: leased,
	},
	{
		Name: "redlock-watchdog", Summary: "Redlock whose holds are extended in the background", Waits: WaitingSpins,
		Lock: watched(quickLock), Deployment: independent(),
		Expect: leased,
	},
	{
		Name: "redlock-quarantine", Summary: "Redlock that lets no node vote which has restarted less than a TTL ago, nor one that it has not watched for so long", Waits: WaitingSpins,
		Remark: "A restart of a node that the holder's majority needs costs the validity of a hold: the longest outage of the trial crash is about a TTL, and not some tens of milliseconds.",
		Lock:   quarantined(quickLock), Deployment: independent(),
		Expect: leased,
	},
	{
		Name: "redlock-fenced", Summary: "Redlock with fences from counters on a quorum, checked on reads and writes", Waits: WaitingSpins,
		Lock: drawing(quickLock, "quorum"), Deployment: checked(independent(), guard.Fenced),
		Expect: Expectations{
			checker.Backing: violated, checker.Lease: violated, checker.Section: violated, checker.Fence: violated,
			checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: holds,
		},
	},
	{
		Name: "redlock-time-tokens", Summary: "Redlock whose tokens are the time and the client's name", Waits: WaitingSpins,
		Claims: []Claim{
			fromRedis("probably sufficient", "Correct Implementation with a Single Instance"),
			{By: "valkey.io", When: 2026, Says: "probably sufficient", Source: `"Distributed Locks", section "Correct Implementation with a Single Instance"`},
		},
		Lock: timed(quickLock), Deployment: independent(),
		Expect: leased,
	},
}

// oneKeys are the locks with one key on one node.
var oneKeys = []Contender{
	{
		Name: "check-then-set", Summary: "GET, then SET without a time to live", Waits: WaitingSpins,
		Remark: "Its holds never end, so after a race somebody always competes: fault tolerance cannot be judged.",
		Lock:   rival("check-then-set"), Deployment: durable(),
		Expect: Expectations{ // a hold without an end competes for ever: L2 is not judged
			checker.Backing: violated, checker.Lease: violated, checker.Section: violated, checker.Effect: violated,
			checker.DeadlockFreedom: violated, checker.Contract: violated,
		},
	},
	{
		Name: "setnx-then-expire", Summary: "SETNX, then EXPIRE", Waits: WaitingSpins,
		Remark: "A try that failed between its two commands is not cleaned up: its key never expires.",
		Lock:   rival("setnx-then-expire"), Deployment: durable(),
		Expect: live(alone(violated), violated),
	},
	{
		Name: "setnx-del", Summary: "SET NX PX, released by DEL, whoever's key it is", Waits: WaitingSpins,
		Remark: "A try without a reply is not cleaned up: DEL would not know whose key it deletes.",
		Lock:   rival("setnx-del"), Deployment: durable(),
		Expect: alone(violated),
	},
	{
		Name: "get-then-del", Summary: "SET NX PX, released by GET, a look at the token, and DEL", Waits: WaitingSpins,
		Remark: "A holder that is merely late finds another's token and leaves the key alone (trial pause). It deletes another's key when the pause falls between GET and DEL (pause-halfway).",
		Lock:   rival("get-then-del"), Deployment: durable(),
		Expect: alone(violated),
	},
	{
		Name: "single-node", Summary: "SET NX PX, released by compare-and-delete, on a node that syncs every write", Waits: WaitingSpins,
		Remark: "In the storm with seed 4 its node crashes for ever: nobody gets the lock again, which Redlock survives. That is fault tolerance; L1 requires a node in reach, and is left open there.",
		Lock:   rival("single-node"), Deployment: durable(),
		Expect: alone(holds), // its node keeps everything; its clock can be wrong
	},
	{
		Name: "failover", Summary: "the same on a master with an asynchronous replica", Waits: WaitingSpins,
		Lock: rival("single-node"), Deployment: mastered(),
		Expect: alone(holds),
	},
}

// stored are the locks in a store.
var stored = []Contender{
	{
		Name: "database-row", Summary: "a row with a time to live, which others sweep, in a database with synchronous replicas", Waits: WaitingSpins,
		Remark: "Rows expire by the leader's wall clock, so synchronous replicas do not help when that clock is stepped (trial clock-jump). Their ids go on growing, so a resource that checks them is safe.",
		Lock:   rival("database-row"), Deployment: agreed(guard.Fenced),
		Expect: Expectations{
			checker.Backing: violated, checker.Lease: violated, checker.Section: violated, checker.Effect: holds, checker.Fence: holds,
			checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: holds,
		},
	},
	{
		Name: "database-row-asynchronous", Summary: "the same with asynchronous replicas", Waits: WaitingSpins,
		Remark: "A new leader uses ids again that the last one had given (on PostgreSQL seldom: it logs a sequence 32 values ahead). A holder whose row is lost can so delete the row of the next one, which has its id (contract).",
		Lock:   rival("database-row"), Deployment: lagging(agreed(guard.Fenced)),
		Expect: forgotten,
	},
	{
		Name: "expiring-key", Summary: "a key that the store deletes after its time to live, with its revision as a fence, checked on reads and writes", Waits: WaitingSpins,
		Claims: []Claim{{By: "Azure Blob Storage", When: 2026, Says: "a lease lasts 15 to 60 seconds, or for ever", Source: "Lease Blob", URL: "https://learn.microsoft.com/en-us/rest/api/storageservices/lease-blob"}},
		Lock:   expiring("expiring-key"), Deployment: agreed(guard.Fenced),
		Expect: consented(holds),
	},
	{
		Name: "object-store", Summary: "an object that is created if absent and replaced at its generation, once its time is over by the client's wall clock; the generation is a fence, checked on reads and writes", Waits: WaitingSpins,
		Remark: "Exclusion relies on the clocks of all clients (row object-store-clock), and the fence on none.",
		Claims: []Claim{
			{By: "G. Morling", When: 2024, Says: "S3 conditional writes elect a leader, whose epoch is a fence", Source: "Leader Election With S3 Conditional Writes", URL: "https://morling.dev/blog/leader-election-with-s3-conditional-writes"},
			{By: "Google Cloud Storage", When: 2026, Says: "preconditions make read-modify-write safe", Source: "Request preconditions", URL: "https://cloud.google.com/storage/docs/generations-preconditions"},
			{By: "ShedLock", When: 2026, Says: "clocks are assumed to be synchronized", Source: "README", URL: "https://github.com/lukas-krecan/ShedLock"},
		},
		Lock: expiring("object-store"), Deployment: agreed(guard.Fenced),
		Expect: Expectations{
			checker.Section: violated, checker.Effect: holds, checker.Fence: holds,
			checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: holds,
		},
	},
	{
		Name: "dynamodb-lock", Summary: "a record that is replaced at its version if that has not changed for a TTL, by the clock of who waits; the version is a fence, checked on reads and writes", Waits: WaitingSpins,
		Remark: "No clock is compared with another. Who comes after a death waits for a TTL from its own first look.",
		Claims: []Claim{{By: "DynamoDB lock client", When: 2026, Says: "safe: machines may disagree on the time", Source: `README, section "How we handle clock skew"`}},
		Lock:   expiring("dynamodb-lock"), Deployment: agreed(guard.Fenced),
		Expect: consented(holds),
	},
	{
		Name: "lock-file", Summary: "a file in an object store that exists while somebody holds the lock, without a time to live", Waits: WaitingSpins,
		Remark: "A holder that dies keeps the lock until somebody deletes the file (trial death).",
		Claims: []Claim{{By: "Terraform", When: 2026, Says: "a conditional write to S3 is a lock", Source: "backend s3, use_lockfile", URL: "https://developer.hashicorp.com/terraform/language/backend/s3"}},
		Lock:   rival("lock-file"), Deployment: agreed(guard.Plain),
		Expect: Expectations{
			checker.Backing: holds, checker.Lease: holds, checker.Section: holds, checker.Effect: holds, checker.Fence: holds,
			checker.DeadlockFreedom: violated, checker.Contract: holds,
		},
	},
	{
		Name: "kubernetes-lease", Summary: "the leader election of Kubernetes' controllers: a record that is renewed and taken over by compare-and-swap", Waits: WaitingSpins,
		Remark: "Clients work too briefly here to violate lease exclusion. With longer work it breaks, as client-go warns: if the reply to a renewal takes a fifth of the lease (the deadline counts from the reply); if a holder that stood still releases before it renews (since v0.34 a release empties the record of the next holder); if the holder's wall clock stands still (its renewals change nothing); if its machine sleeps. `lockstorm hunt --lock kubernetes-lease` finds such runs.",
		Claims: []Claim{
			{By: "client-go", When: 2026, Says: "does not guarantee that only one client acts as a leader", Source: "package leaderelection"},
			{By: "kube-rs/kube#1056", When: 2023, Says: "is not a lock", Source: "coordination.k8s.io/v1 utilities"},
		},
		Lock: kubernetes(), Deployment: agreed(guard.Plain),
		Expect: elected(violated),
	},
	{
		Name: "kubernetes-lease-fenced", Summary: "the same with the number of changes of its holder as a fence, checked on reads and writes", Waits: WaitingSpins,
		Remark: "The number grows whenever another holder takes over, by compare-and-swap, also where the lock does not exclude. client-go stores it (leaseTransitions), and gives it to nobody.",
		Lock:   kubernetes(), Deployment: agreed(guard.Fenced),
		Expect: elected(holds),
	},
	{
		Name: "redis-sentinel", Summary: "SET NX PX and compare-and-delete on a Redis master whose asynchronous replicas Sentinel promotes, and a resource that checks nothing", Waits: WaitingSpins,
		Lock: expiring("expiring-key"), Deployment: failingOver("redis-sentinel"),
		Expect: forgotten,
	},
	{
		Name: "redis-replicas-checked", Summary: "the same, and a grant counts once one of the replicas that are connected has acknowledged the key (WAIT)", Waits: WaitingSpins,
		Remark: "A replica without the key can be promoted all the same: see the rows wait-other-promoted, wait-none-connected and wait-count-cached.",
		Claims: []Claim{{By: "Redisson", When: 2026, Says: "a check of replicas closes the gap", Source: `Locks and synchronizers, section "Lock reliability and fencing"`}},
		Lock:   expiring("expiring-key"), Deployment: acknowledged(nemesis.AcknowledgedByOne),
		Expect: forgotten,
	},
	{
		Name: "redis-cluster", Summary: "the same in a Redis Cluster, which promotes replicas itself", Waits: WaitingSpins,
		Lock: expiring("expiring-key"), Deployment: failingOver("redis-cluster"),
		Expect: forgotten,
	},
	{
		Name: "advisory", Summary: "an advisory lock of a connection to PostgreSQL, which the holder does not check", Waits: WaitingSpins,
		Remark: "A holder that stands still keeps its lock (trial pause), and one that dies gives it up at once (death). A new leader does not know the lock, and the holder works on (crash, restart, one-down).",
		Lock:   rival("advisory"), Deployment: agreed(guard.Plain),
		Expect: connected,
	},
	{
		Name: "advisory-checked", Summary: "the same, whose holder checks the connection four times in a TTL", Waits: WaitingSpins,
		Remark: "A check without a reply in time closes the connection, and with it goes the lock: a write that is under way comes late (trial lost-replies).",
		Lock:   checking("advisory"), Deployment: agreed(guard.Plain),
		Expect: connected,
	},
	{
		Name: "advisory-transaction", Summary: "an advisory lock of a transaction, which ends when it is idle for a TTL; its holder checks the connection four times in a TTL", Waits: WaitingSpins,
		Remark: "The server ends the transaction of a holder that stands still (trial pause).",
		Lock:   checking("advisory-transaction"), Deployment: agreed(guard.Plain),
		Expect: connected,
	},
	{
		Name: "zookeeper", Summary: "the ZooKeeper recipe, and a resource that checks nothing", Waits: WaitingWatches,
		Lock: session("zookeeper"), Deployment: agreed(guard.Plain),
		Expect: consented(violated),
	},
	{
		Name: "zookeeper-fenced", Summary: "the ZooKeeper recipe with its czxid as a fence, checked on reads and writes", Waits: WaitingWatches,
		Lock: session("zookeeper"), Deployment: agreed(guard.Fenced),
		Expect: consented(holds),
	},
	{
		Name: "etcd", Summary: "the etcd mutex with its revision as a fence, checked on reads and writes", Waits: WaitingWatches,
		Claims: []Claim{{By: "etcd-io/etcd#11457", When: 2019, Says: "locks are not really locks", Source: "Document that locks aren't really locks"}},
		Lock:   session("etcd"), Deployment: agreed(guard.Fenced),
		Expect: consented(holds),
	},
	{
		Name: "etcd-unchecked", Summary: "the etcd mutex, without a look at the session after the wait, and a resource that checks nothing", Waits: WaitingWatches,
		Remark: "A client that has waited past the end of its session holds a key that is gone: its revision is older than the holder's, so V4 breaks as well.",
		Lock:   session("etcd-unchecked"), Deployment: agreed(guard.Plain),
		Expect: Expectations{
			checker.Backing: violated, checker.Lease: violated, checker.Section: violated, checker.Effect: violated, checker.Fence: violated,
			checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: holds,
		},
	},
	{
		Name: "chubby", Summary: "Chubby with its sequencer checked on reads and writes, and a grace period", Waits: WaitingWatches,
		Lock: chubby(0), Deployment: agreed(guard.Fenced),
		Expect: consented(holds),
	},
	{
		Name: "chubby-lock-delay", Summary: "Chubby with a lock-delay of half a TTL, and a resource that checks nothing", Waits: WaitingWatches,
		Claims: []Claim{{By: "Burrows", When: 2006, Says: "a lock-delay of a minute or sequencers suffice", Source: "The Chubby lock service for loosely-coupled distributed systems, section 2.4", URL: "https://research.google/pubs/the-chubby-lock-service-for-loosely-coupled-distributed-systems/"}},
		Lock:   chubby(500 * ms), Deployment: agreed(guard.Plain),
		Expect: consented(violated),
	},
	{
		Name: "fenced", Summary: "a fenced lock on consensus, its fence checked on reads and writes", Waits: WaitingWatches,
		Claims: []Claim{{By: "Hazelcast", When: 2019, Says: "distributed locks are dead, long live fenced ones", Source: "Distributed Locks are Dead; Long Live Distributed Locks!", URL: "https://hazelcast.com/blog/long-live-distributed-locks/"}},
		Lock:   session("fenced"), Deployment: agreed(guard.Fenced),
		Expect: consented(holds),
	},
}

// forgotten is the expectations of a lock on a store whose next leader can lack the last locks and
// fences.
var forgotten = Expectations{
	checker.Backing: violated, checker.Lease: violated, checker.Section: violated, checker.Effect: violated, checker.Fence: violated,
	checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: violated,
}

// connected is the expectations of a lock that belongs to a connection: without a deadline and
// without a fence.
var connected = Expectations{
	checker.Lease: violated, checker.Section: violated, checker.Effect: violated,
	checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: holds,
}

// elected is the expectations of a lock that does not guarantee a single holder, with the given
// verdict for effect exclusion. Whether a run shows that is left open.
func elected(effect checker.Verdict) Expectations {
	return Expectations{
		checker.Section: violated, checker.Effect: effect, checker.Fence: holds,
		checker.DeadlockFreedom: holds, checker.FaultTolerance: holds,
	}
}

// consented is the expectations of a lock on consensus, with the given verdict for effect
// exclusion.
func consented(effect checker.Verdict) Expectations {
	return Expectations{
		checker.Section: violated, checker.Effect: effect, checker.Fence: holds,
		checker.DeadlockFreedom: holds, checker.FaultTolerance: holds, checker.Contract: holds,
	}
}

// rival is a lock of another kind with the times of [quickLock].
func rival(kind string) Lock {
	l := quickLock
	l.Kind, l.Linger = kind, 0
	return l
}

// expiring is a lock whose entry has the TTL, on a clock that counts suspension.
func expiring(kind string) Lock {
	l := rival(kind)
	l.Clock = env.Boottime.String()
	return l
}

// kubernetes is the lock of client-go with the proportions of its defaults: a lease of 15 s, a deadline
// of 10 s for renewals every 2 s, requests of at most 5 s, and candidates that look every 2 to 4.4 s.
// Go measures time by the monotonic clock, which stops while a machine is suspended.
func kubernetes() Lock {
	l := rival("kubernetes-lease")
	second := l.TTL / 15
	l.DriftFactor = 1.0 / 3
	l.NodeTimeout = (5 * second).Truncate(ms)
	l.Heartbeat = (2 * second).Truncate(ms)
	l.Retry = span(l.Heartbeat, l.Heartbeat*22/10)
	return l
}

// checking is a lock whose holder checks its connection.
func checking(kind string) Lock {
	l := rival(kind)
	l.Heartbeat = l.TTL / 4
	return l
}

// session is a lock whose session has the TTL, on a clock that counts suspension.
func session(kind string) Lock {
	l := rival(kind)
	l.Heartbeat, l.Clock = l.TTL/4, env.Boottime.String()
	return l
}

func chubby(delay time.Duration) Lock {
	l := session("chubby")
	l.Grace, l.LockDelay = 2*l.TTL, delay
	return l
}

// durable is a node that keeps what it has acknowledged. The other nodes receive no requests; they
// make the same plans possible.
func durable() Deployment {
	d := independent()
	d.Persistence = nemesis.Always
	return d
}

// mastered is a node with a lagging replica.
func mastered() Deployment {
	d := durable()
	d.Replication = &nemesis.Distribution{Range: span(20*ms, 50*ms)}
	return d
}

// agreed is a store that five nodes replicate.
func agreed(mode guard.Mode) Deployment {
	d := checked(durable(), mode)
	d.Store = &nemesis.Store{
		Election: nemesis.Distribution{Range: span(100*ms, 300*ms)},
		Commit:   nemesis.Distribution{Range: span(1*ms, 3*ms)},
	}
	return d
}

// lagging makes the replicas of a store asynchronous.
func lagging(d Deployment) Deployment {
	store := *d.Store
	store.Asynchronous, store.Commit.Range = true, span(20*ms, 50*ms)
	d.Store = &store
	return d
}

// failingOver is a master of Redis with asynchronous replicas, one of which the product promotes.
func failingOver(product string) Deployment {
	d := lagging(agreed(guard.Plain))
	d.Store.Product = product
	return d
}

// acknowledged is a master of Redis with asynchronous replicas, some of which have to acknowledge a change.
func acknowledged(rule nemesis.Acknowledged) Deployment {
	d := failingOver("")
	d.Store.Acknowledged = rule
	return d
}

// checked guards the lock with a resource that checks accesses.
func checked(d Deployment, mode guard.Mode) Deployment {
	d.Guard = mode
	return d
}

func sequential(l Lock) Lock {
	l.Sequential = true
	return l
}

func timed(l Lock) Lock {
	l.Tokens = "time"
	return l
}
