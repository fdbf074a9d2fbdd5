// Package mutextest tests the promises of [redlock.Mutex] on nodes of any kind, with goroutines and
// in real time: [Run] receives the nodes as a [Place]. Package redlock runs it on nodes in memory,
// redlock/redisnode on real servers.
//
// The simulator tests more, and exactly, but on one thread. It cannot find data races or leaked
// goroutines, nor show that its nodes behave as Redis does.
//
// No test measures time, because a busy machine would fail it. Keys live for an hour unless a test
// is about their expiry. Tests wait for events, with a limit far beyond the usual time.
package mutextest
