// Package jepsen judges histories recorded by Jepsen: history.edn, as its store writes it, one map
// per line, or one vector of maps over the whole file.
//
// It judges locks (:acquire and :release) against three models (an ownerless, an owner-aware and a
// fenced mutex) and registers (:read, :write, :cas) with one key or many (jepsen.independent). The
// order of the file is the order of time, and the rules are Jepsen's: :ok has happened, :fail has
// not, :info may have happened at any time after its invocation. So the verdict is that of Jepsen's
// own checker, Knossos.
//
// The specifications are porcupine's, in package model. For the picture, porcupine judges the
// window around a violation again. The package does not know Lockstorm's own histories.
package jepsen
