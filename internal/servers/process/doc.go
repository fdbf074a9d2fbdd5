// Package process runs experiments on redis-server processes that it starts: a world of
// package live with one process for each node.
//
//	world, err := Backend{}.Open(ctx, setting, seed, sink)
//
// A crash is SIGKILL. The node comes back as a new process on the same port and directory,
// with what its persistence has kept.
//
// No process and no file outlives this program, even if it is killed; see package
// redisserver.
package process
