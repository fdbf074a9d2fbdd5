package process

import "github.com/lockstorm/lockstorm/world"

// repertoire says how each kind of fault is carried out; each has a file of
// its own, fault_*.go. The conductor carries out one at a time.
var repertoire = world.Repertoire[*World]{crashing, carrying, pausing, killing, cancelling}
