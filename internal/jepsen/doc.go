// Package jepsen judges histories that Jepsen has recorded: history.edn, as its
// store writes it, one map a line, or one vector of maps over the whole file.
//
// It can judge locks (:acquire and :release) by three models, an ownerless, an
// owner-aware and a fenced mutex, and registers (:read, :write, :cas), with one
// key or many (jepsen.independent). The order of the file is the order of time,
// and the rules are Jepsen's: :ok has happened, :fail has not, :info may have
// happened at any time after its invocation; so the verdict is the one that
// Jepsen's own checker, Knossos, comes to.
//
// The specifications are porcupine's, in package model; porcupine judges the
// window around a violation a second time, for the picture. The package knows
// nothing of Lockstorm's own histories.
package jepsen
