// Package memory is the world of package live without a socket and without a process: its
// nodes are miniredis servers in the memory of this program, and its network is that of
// package wire there.
//
//	world, err := Backend{}.Open(ctx, setting, seed, sink)
//
// # In a bubble
//
// Nothing in it waits but for channels and the timers of package time. So in a bubble of
// testing/synctest its time is virtual, for the nodes' keys, too, and a pause of 30 s costs
// nothing. Outside of a bubble it is a world like any other, in real time.
//
//	synctest.Test(t, func(t *testing.T) {
//		world, err := Backend{}.Open(t.Context(), setting, 1, sink)
//		if err != nil {
//			t.Fatal(err)
//		}
//		defer world.Close() // a bubble has to end without goroutines
//		err = world.Run(t.Context(), func(client int) {
//			conn, err := world.Dial(t.Context(), client, 1) // a lock's own Redis client dials like this
//			...
//		})
//	})
//
// A lock that is not on env reads the time and sleeps by package time, and has a Redis
// client of its own, whose connections live.World.Dial makes: it stands still where it reads
// or writes. What cannot befall it says runner.Unbearable. Its client must not sleep within a
// write, nor wait for a lock while another sleeps with it: go-redis is fit for a bubble with
// its maintenance notifications disabled.
//
// The world has to be opened, run and closed in the bubble, with contexts that were made
// there, as that of its t: what waits for a channel from outside keeps the bubble's time
// from going on.
//
// Virtual time is not replay: of goroutines that wake together the scheduler chooses one,
// so that two runs of a seed differ. What the network and the faults draw follows from the
// seed, one after another.
package memory
