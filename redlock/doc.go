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
// Beside Lock there are [Mutex.WithLock], which releases by itself,
// [Mutex.LockAll], for several resources at once, and a [Watchdog], which extends
// in the background. A failure to find a quorum is a [QuorumError] with each
// node's answer; [Logged] writes to log/slog what an operator wants to know, and
// package redlockotel tells it to OpenTelemetry.
//
// Use an odd number of nodes, 3 or 5: an even one tolerates no more failures than
// the odd one below it.
//
// What a hold promises: nobody else is granted the resource between the return
// of Lock and the end of validity, [Hold.Until], provided that the clocks of
// nodes and client drift apart by less than the drift factor, do not jump, and
// that a node which forgets its keys stays away longer than the longest TTL, or
// the lock has a [Config.Quarantine]. It promises nothing to a holder who goes on
// past the validity, because it was paused, say; a resource that must survive this
// has to check fences, which come from the resource's own store or, if the nodes
// keep their counters, from [Config.Fence].
//
// The package waits only through env and knows no Redis client: the same code
// runs in production (redlock/redisnode) and, byte for byte, in a simulator.
package redlock
