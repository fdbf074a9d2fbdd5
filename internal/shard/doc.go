// Package shard divides work into shards that can be made anywhere, in any order and again, and joins
// what they show.
//
// Work is a number of units, each of which has a record that depends on the work and the number of the
// unit alone. A [Log] has the records of a shard, in a file to which they are appended. [Join] puts the
// logs of all shards into one, so that a command which computes its output from a log prints the same of
// joined shards as of the work of one process.
package shard
