// Package mutextest holds [redlock.Mutex] to what it promises on nodes of any
// kind, on goroutines and in real time: [Run] takes the nodes as a [Place].
// Package redlock runs it on nodes in memory, redlock/redisnode on real servers.
//
// The simulator shows more, and to the nanosecond, but it is one thread: what
// it cannot show is a data race, a goroutine that stays, or that the nodes on
// which all this was shown behave as Redis does.
//
// Nothing here measures time, because a busy machine would fail it. Keys live
// for an hour unless a behaviour is about their end; what has to come is waited
// for, up to a patience that is far longer than it takes.
package mutextest
