// Package locktest tests any Go lock that uses Redis, etcd, PostgreSQL or ZooKeeper against
// faults: servers crash, links break and clients are paused. The lock is used as it is, and its
// behaviour is judged by the checker that judges the locks of Lockstorm.
//
//	func TestLockInStorm(t *testing.T) {
//		locktest.Run(t, locktest.Config{Nodes: 1}, func(env locktest.Env) locktest.Locker {
//			client := redis.NewClient(&redis.Options{
//				Addr: env.Addrs[0], Dialer: env.Dial,
//				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
//			})
//			env.Cleanup(client.Close)
//			return mine.NewLock(client, env.TTL) // Lock(ctx, resource) (locktest.Hold, error)
//		})
//	}
//
// The function is called once for each client of each run. Each storm is a subtest: a plan
// of faults, run a few times with different seeds. The subtest fails if a promised property
// ([Config.Promises]) is violated under a plan that the promise covers. The failure shows
// what happened, which assumption or promise that breaks, and the commands that run it again
// and turn it into a page. The story, the plan and all that was found out about them are in the
// file failure.txt of the stored run. A violation that no promise covers is a limit: it is logged
// and does not fail the test.
//
// # Backends
//
// On [Memory], the default, nodes are in this process and time is virtual: a pause of 30 s
// takes no time. A run is in a bubble of [testing/synctest], so the lock, its client
// library and the nodes share one clock, which jumps ahead when all goroutines are blocked.
// This restricts the lock:
//
//   - All goroutines that the lock starts must end when its cleanup functions have run.
//     One that is left behind is an error of the run.
//   - Nothing in a run may wait for anything outside it: a channel, a timer or a context
//     that was made before, such as the test's.
//   - A goroutine that waits for a [sync.Mutex] stops virtual time. If the owner of the
//     mutex waits for the network, time stops for good. That storm fails with an
//     explanation, and its goroutines are leaked. Such a lock can be tested on [Process]
//     only. (go-redis waits so for answers about maintenance notifications.)
//
// Tests that run in parallel wait for each other, because client libraries keep timers for the
// whole program, and a timer of one bubble ends the program when it is used in another. While runs
// go on, garbage is collected less often (GOGC is 400), unless the program or GOGC has set how
// often.
//
// On [Process] nodes are redis-server processes and time is real.
//
// A lock in a replicated store is tested on servers of that store, with [Config.Store] set to
// the Store of the package etcdtest, postgrestest or zookeepertest of the module stores. These
// packages show how a client of the store dials. They are separate, so that a test compiles the client
// of the store that it uses, and no other. The servers have to be installed. There is no store in
// memory.
//
// On both backends a run cannot be repeated exactly. A failure is therefore stored with its
// plan, seed and history, and says how often runs of the same plan and seed fail again. The
// flag -locktest.witness runs a stored one again, and -locktest.reruns says how often.
//
// A generated plan that fails is shrunk to the faults that matter. The flag -locktest.shrink
// bounds the number of runs for that.
//
// Re-runs and shrinking take the time of [Config.Budget] that the storms leave. The flag
// -locktest.budget replaces it. The verdict of a storm does not depend on it, nor on the speed of
// the machine.
//
// # Logs
//
// What client libraries log during a run is stored with a failed run, in the file client.log, and
// not shown. That is what goes to go-redis' logger and to the default loggers of the packages log
// and [log/slog], unless the program sets them itself during the run. On [Memory] lines of other
// goroutines than those of the run go where they went before. On [Process] the goroutines cannot be
// told apart, so that lines of tests that run in parallel are recorded as well. A library with a
// logger of its own has to be given [Env.Log].
//
// # Faults
//
// The faults are those of the network, of nodes and of nodes' clocks. A client is paused
// where it reads from a connection or writes to one, and where the lock returns to its
// caller; its timers and its other goroutines continue until they get to such a place. The
// clock that it reads is always right. Faults that wait for a step can wait for
// acquire, granted, refused, extend, extended, extend-failed, lost, before-release, released,
// before-read, after-read, before-write and after-write.
//
// # Properties
//
// V1 (lease exclusion) relies on what a grant says: it holds from the return of Lock until
// [Hold.Until], a release or the notice of a loss. Without an Until only the other two end
// it: such a lock has promised to hold for as long as its holder likes, and violates V1 if
// the TTL expires during the work. For V2 a hold ends with the release or the notice of a
// loss only. V3: no update of the guarded resource is lost. V4: fences grow. L1: somebody
// is granted the lock again when faults are over. L2: the lock works while a majority of
// the nodes does. C: calls return, and a grant has time left.
//
// L3: no key stays behind after a hold was released or a try has failed. It is judged on
// [Memory] only, where every change of a key is recorded for the try during which the
// client sent the request. The same records decide the rest of C: that a release reports
// the truth, and that nothing else ends a hold. They contain strings that have an expiry,
// or are set by SETNX or SET with NX, and every such string that a client sets counts as
// its lock's. A lock that stores its holds otherwise, as in a hash, is judged without these
// records, as on [Process].
package locktest
