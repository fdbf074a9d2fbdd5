// Package speed measures distributed locks against each other on the same real
// redis-servers in one run: this lock, its rivals, and the floor, which is the least that a
// lock on a majority of five nodes can do by way of go-redis. "go -C evidence run . bench" runs
// the whole and writes docs/evidence/bench.md.
//
// All of them are given the same patience with a node, that of
// [github.com/lockstorm/lockstorm/redlock.Defaults], and nothing is sent a second time:
// with go-redis' own settings (a read timeout of 3 s, and three more tries) a node that
// does not answer would cost 12 s.
package speed
