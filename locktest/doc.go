// Package locktest puts a lock of yours into the storm: any Go lock that talks to Redis, as it
// is, against a set of nodes where servers crash, links break and clients stand still, judged
// by the same checker as the locks of Lockstorm itself.
//
//	func TestLockInStorm(t *testing.T) {
//		locktest.Run(t, locktest.Config{Nodes: 1}, func(env locktest.Env) locktest.Locker {
//			client := redis.NewClient(&redis.Options{Addr: env.Addrs[0], Dialer: env.Dial})
//			env.Cleanup(client.Close)
//			return mine.NewLock(client, env.TTL) // Lock(ctx, resource) (locktest.Hold, error)
//		})
//	}
//
// The function is called once for each client and run. Each storm is a subtest: a plan of
// faults, run a few times with other seeds. A property that is promised ([Config.Promises])
// and violated under a plan that the promise covers fails the subtest, with the story of
// what happened, the plan, where the run is stored, and the command that makes a page about
// it. What is violated beyond the promise is a limit: it is told, and fails nothing.
//
// # Where it runs
//
// On [Memory], the default, nodes are in this process and time is virtual: a pause of 30 s
// costs nothing. A run is in a bubble of [testing/synctest], so that the lock, its client
// library and the nodes share one clock, which jumps when nothing is left to do. What the
// lock starts must end when its cleanup functions have run: a goroutine that is left behind
// is an error of the run. Nothing that waits in a run may wait for what is outside of it: a
// channel, a timer or a context that was made before, as that of the test. And who waits for a
// [sync.Mutex] keeps virtual time from going on; where another has that and waits for the
// network, it stands still for good, and the test binary is ended with a word about it: such a
// lock can be tried on [Process] alone. Tests that run in parallel wait for each other.
//
// On [Process] nodes are redis-server processes and time is real.
//
// On neither does a run repeat exactly. A failure is therefore kept as plan, seed and
// history, with how often runs of the same plan and seed show it again; the flag
// -locktest.witness runs a stored one again.
//
// # What can befall a lock of which nothing is known
//
// Faults are those of the network, of the nodes and of their clocks. A client stands still
// where it reads from a connection or writes to one, and where it returns to its caller;
// its timers and its other goroutines go on until they come to such a place. The clock that
// it reads is the one of all: nothing can make it wrong. Faults that wait for a step can
// wait for those of [runner.ExternalSteps].
//
// # What is judged
//
// V1 (lease exclusion) takes a grant at its word: it holds from the return of Lock until
// [Hold.Until], a release or the news of a loss. Without an Until nothing but these ends it:
// such a lock has promised that it is held for as long as its holder likes, and a TTL that
// runs out under the work violates V1. V2 ends with the release or the news of a loss alone.
// V3 is about what comes of it: whether an update of the guarded resource is lost. V4 asks
// that fences rise. L1 asks that somebody is granted the lock again once faults are over; L2
// that nodes which are gone are not needed, as long as a majority is there; C that calls
// return, and that a grant has time left; L3 that no key stays behind of what was given up,
// which is judged on [Memory] alone: every change of a key is recorded there, as that of the
// try during which the client had sent the request for it. That a release says what is true,
// and that only it ends a hold, is part of C and judged by the same records. They are of
// strings with an expiry, and every one that a client sets is taken for its lock's. A lock that
// keeps its holds otherwise, in a hash or without an expiry, is judged without them, as on
// [Process].
package locktest
