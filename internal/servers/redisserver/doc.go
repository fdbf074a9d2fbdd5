// Package redisserver runs redis-server processes on loopback, each in a directory of its
// own. None of them, and none of their files, outlives the program that started them.
//
//	fleet, err := OpenFleet(ctx, Options{Nodes: 5})
//	...
//	defer fleet.Close()
//	addr := fleet.Server(1).Addr()
//
// They are a group of package child, which says how it cleans up. Servers run on Linux only.
package redisserver
