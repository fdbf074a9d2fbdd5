// Package faketime gives a server a wall clock of its own, by libfaketime. That stands
// between the server and the C library: it reads, at every look at the clock, a file that
// says how far the clock is off, and how fast it runs since the library was loaded. The
// monotonic clock, by which the server waits, it leaves alone.
//
//	clock := faketime.New(filepath.Join(dir, "clock"))
//	err := clock.Load() // and then start the process with faketime.Env
//	...
//	err = clock.Settle(func() (time.Time, error) { return what the server answers to TIME })
//	...
//	err = clock.Set(-time.Hour, 0)
package faketime
