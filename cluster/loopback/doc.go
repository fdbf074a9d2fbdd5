// Package loopback is the one network that servers of ours are reached over: a port of
// 127.0.0.1 that stays theirs while they are down, and a check that an address leads
// nowhere else.
package loopback
