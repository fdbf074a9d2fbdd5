// Package rivals contains the locks that Redlock is compared with, from the naive schemes
// of tutorials to locks on consensus. Each is as short as the article that it comes from,
// and has the same defects. In production use package redlock.
//
// They share a [Mutex], which retries, waits and reports to its observer, and a [Hold],
// which knows its end of validity. The difference between locks is a scheme. Like redlock
// they run on env alone.
package rivals
