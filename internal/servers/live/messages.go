package live

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// What the world and a client that is a process of its own say to each other: values of
// these types, in gob, for both are the same program. A value that is cut off by the death
// of who wrote it was not said.

// setup is the first that the client hears.
type setup struct {
	Client  int
	Seed    uint64
	Zero    env.Instant // of the ground clock
	Nodes   []string    // where it finds them
	Connect []byte      // the [redisnode.Options], in JSON
	Awaited []env.Step  // those of which the world wants to hear
	Brief   []byte      // what it is to do, for those who know that
}

// order is what it hears later.
type order struct {
	Go     bool   // the run has begun
	Ask    uint64 // the number of a question; this is the answer
	Answer answer
	Cancel int    // the fault that ends the call under way
	Turned bool   // a clock of it has changed
	Draws  string // the stream from which it draws from now on
}

// report is what it says. One that bears no stamp says nothing that is in the history.
type report struct {
	Stamp env.Instant // of the machine's monotonic clock

	Ready    bool // it could begin
	Returned bool

	Event   *history.Event
	Watch   *watch
	Unwatch string // a token

	Ask    uint64 // a question of this number
	Reach  *reached
	Access *access
}

// reached is a step that a client has come to.
type reached struct {
	Step env.Step
	K    int
}
