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
// What a hold promises: nobody else is granted the resource between the return
// of Lock and the end of validity, [Hold.Until], provided that the clocks of
// nodes and client drift apart by less than the drift factor, do not jump, and
// that a node which forgets its keys stays away longer than the longest TTL.
// It promises nothing to a holder who goes on past the validity, because it
// was paused, say; a resource that must survive this has to check fences.
//
// The package waits only through env and knows no Redis client: the same code
// runs in production (redlock/redisnode) and, byte for byte, in a simulator.
package redlock
