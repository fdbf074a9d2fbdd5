// Package redlock is Redlock, the distributed lock on N independent Redis
// masters (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/).
//
// A [Mutex] hands out [Hold]s:
//
//	mutex, err := redlock.New(redlock.Defaults(10*time.Second), env.System(), nodes, nil)
//	...
//	hold, err := mutex.Lock(ctx, "invoice-7")
//	if err != nil {
//		return err
//	}
//	defer hold.Release(ctx)
//	work(hold.Context()) // ends when the lock is lost or about to expire
//
// [Mutex.WithLock] also releases the lock, [Mutex.LockAll] acquires several resources, and a
// [Watchdog] extends holds in the background. An operation without a quorum returns a
// [QuorumError] with the reply of each node. [Logged] logs with log/slog, and package redlockotel
// exports traces and metrics with OpenTelemetry.
//
// Use an odd number of nodes, 3 or 5. One more node tolerates no more failures.
//
// The promise: nobody else is granted the resource between the return of Lock and the end of
// validity, [Hold.Until]. It requires that the clocks of nodes and client drift apart by less than
// the drift factor and do not jump, and that a node that forgets its keys stays away for longer
// than the longest TTL or the lock has a [Config.Quarantine]. It does not protect a holder that
// goes on past the validity, for instance after a pause. A resource that must be safe from that
// has to check fences, which come from the resource's own store or, if the nodes keep their
// counters, from [Config.Fence].
//
// The package waits only through env and imports no Redis client: the same code runs in production
// (redlock/redisnode) and in a simulator.
package redlock
