// Package process is the world of package live over redis-server processes of our
// own, one for each node.
//
//	world, err := Backend{}.Open(ctx, setting, seed, sink)
//
// A crash is SIGKILL: a new process starts on the same port and directory, with what
// its persistence kept.
//
// Nothing is left behind, see package redisserver: no process and no file outlives
// this program, even if it is killed.
package process
