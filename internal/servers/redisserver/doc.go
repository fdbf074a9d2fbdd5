// Package redisserver runs redis-server processes on loopback, each in a
// directory of its own, and sees to it that none of them, and no file of
// theirs, outlives the program that started them.
//
//	fleet, err := Open(ctx, Options{Nodes: 5})
//	...
//	defer fleet.Close()
//	addr := fleet.Server(1).Addr()
//
// Three things take care of the end, whatever it is. Close kills the servers
// and removes their files. When the program dies without a word, by SIGKILL
// say, the kernel kills the servers (see [child.Forker]), and a small shell process
// that has been waiting for this moment removes what is left (see package reaper).
// A signal from the terminal reaches neither the servers nor the shell: it is
// the program that decides.
//
// It runs on Linux only.
package redisserver
