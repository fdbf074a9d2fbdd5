// Package memory runs experiments without sockets and processes: a world of package live
// whose nodes are miniredis servers in this program, and whose network is the in-memory one
// of package wire.
//
//	world, err := Backend{}.Open(ctx, setting, seed, sink)
//
// # In a bubble
//
// Its goroutines block on channels and timers of package time only. So in a bubble of
// testing/synctest time is virtual, also for the keys of nodes, and a pause of 30 s takes
// no time. Outside a bubble time is real, as in any other world.
//
//	synctest.Test(t, func(t *testing.T) {
//		world, err := Backend{}.Open(t.Context(), setting, 1, sink)
//		if err != nil {
//			t.Fatal(err)
//		}
//		defer world.Close() // a bubble has to end without goroutines
//		err = world.Run(t.Context(), func(client int) {
//			conn, err := world.Dial(t.Context(), client, 1) // for the lock's own Redis client
//			...
//		})
//	})
//
// A lock that does not use package env reads the time and sleeps through package time, and
// has its own Redis client, which connects through live.World.Dial. Such a client is paused
// where it reads or writes. runner.UnsupportedFault says which faults cannot affect it. Its
// Redis client must not sleep within a write, nor wait for a mutex whose owner sleeps.
// go-redis fulfils this if its maintenance notifications are disabled.
//
// The world has to be opened, run and closed in the bubble, with contexts made there, such
// as that of its t. A goroutine that waits for a channel from outside stops the bubble's
// time.
//
// Virtual time is not replay: the scheduler chooses among goroutines that wake at the same
// time, so two runs of a seed differ. What the network and the faults draw depends on the
// seed, in the order of the draws.
package memory
