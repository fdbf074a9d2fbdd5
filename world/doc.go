// Package world is what every world does in the same way, whether its time is
// simulated or real: it writes the lapses of validity, carries a plan's faults
// out, counts the faults that hold a link, and closes a history. It knows no
// backend: it reads no clock, starts nothing, and learns the time from its
// caller.
//
//	lapses := world.NewLapses(ground, record)
//	...
//	lapses.Watch(now, client, env.Monotonic, "stock", token, until)
//	...
//	lapses.Flush(now) // before every other event
//
// Nothing in it is safe for concurrent use: a world of many threads calls it
// under the lock that guards its history, or its plan.
package world
