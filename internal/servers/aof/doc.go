// Package aof takes the append-only file of a Redis server back to what it was before: to
// show what a machine loses that has no power, or a server that starts from an old state.
//
// A file only grows, so that a state of it is a length, and to go back is to cut the rest
// off while the server is down. What the lengths were is looked up from outside, without
// a word to the server.
package aof
