// Package redisserver runs redis-server processes on loopback, each in a directory of its
// own. None of them, and none of their files, outlives the program that started them.
//
//	fleet, err := OpenFleet(ctx, Options{Nodes: 5})
//	...
//	defer fleet.Close()
//	addr := fleet.Server(1).Addr()
//
// Cleaning up is safe in three ways:
//
//   - Close kills the servers and removes their files.
//   - When the program dies, even by SIGKILL, the kernel kills the servers
//     ([child.Forker]) and a small shell process that was waiting for this removes the
//     files ([child.Reaper]).
//   - Signals from the terminal reach neither the servers nor the shell. The program
//     decides what to do about them.
//
// Servers run on Linux only.
package redisserver
