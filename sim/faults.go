package sim

import "github.com/lockstorm/lockstorm/nemesis"

// repertoire says how each kind of fault is carried out; each has a file of
// its own, fault_*.go.
var repertoire = nemesis.Repertoire[*World]{
	crashing, partitioning, slowing, pausing, killing, clockJumping, clockRunning,
}

type part = nemesis.Part[*World]

// Faults lists the kinds of faults that a simulated world can carry out.
func Faults() []nemesis.Kind { return repertoire.Kinds() }
