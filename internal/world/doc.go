// Package world holds what simulated and real worlds have in common. It begins and
// ends the faults of a plan ([Scheduler], [Injector]), keeps machine clocks and their
// faults ([Clock], [Clocks]), records when leases expire ([LeaseExpiries]), counts the
// faults that affect a link ([Links]), and closes a history ([End]). It knows no
// backend: it reads no real clock, starts no goroutine, and its callers pass in the
// time.
//
//	expiries := NewLeaseExpiries(ground, record)
//	...
//	expiries.Watch(now, client, env.Monotonic, "stock", token, until)
//	...
//	expiries.Flush(now) // before every other event
//
// Except for [Calls] nothing is safe for concurrent use: a world with several
// goroutines calls it under the lock of its history or of its plan.
package world
