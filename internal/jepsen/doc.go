// Package jepsen judges histories of locks that Jepsen recorded: history.edn, as its store writes
// it, one map per line, or one vector of maps over the whole file.
//
// The order of the file is the order of time, and the rules are Jepsen's: :ok has happened, :fail
// has not, :info may have happened at any time after its invocation. porcupine judges the
// operations under the specifications of package model. The package does not know Lockstorm's own
// histories.
package jepsen
