package live

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// clientEnv is set in the environment of a client's process.
const clientEnv = "LOCKSTORM_CLIENT"

// The files that a client inherits after the standard ones, in this order.
const (
	ordersFile = iota
	reportsFile
	pageFile
)

// setup is the first value that the client receives.
//
// The world and a client in its own process exchange values of these types in gob; both are
// the same program. A value that is cut off by the death of its sender is ignored.
type setup struct {
	Client  int
	Seed    uint64
	Zero    env.Instant // start of the ground clock
	Nodes   []string    // their addresses
	Connect []byte      // the [redisnode.Options], in JSON
	Store   string      // the kind of store that the nodes replicate; empty: none
	Awaited []env.Step  // the steps that the world waits for
	Brief   []byte      // what the client is to do
}

// order is what the client receives later.
type order struct {
	Go            bool   // the run begins
	Ask           uint64 // the number of the question that Answer answers
	Answer        accessResult
	Cancel        int    // the fault that cancels the current call
	ClocksChanged bool   // one of its clocks has changed
	Stream        string // the random stream to draw from now on
}

// report is what the client sends.
type report struct {
	Stamp env.Instant // by the machine's monotonic clock

	Ready    bool // the client is ready
	Returned bool

	Event   *history.Event
	Watch   *watch
	Unwatch string // a token

	Ask    uint64 // the number of a question
	Reach  *stepReached
	Access *access
}

// stepReached is a step that a client has reached.
type stepReached struct {
	Step env.Step
	K    int
}
