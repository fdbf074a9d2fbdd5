package nemesis

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Effect is a bit set of what faults do to a world. Code that depends on what a fault does (promises, hunts,
// the shrinker, explorations, backends, pages) tests for effects, never for kinds, so a new kind only has to
// state its effects. docs/extend.md lists the places to look at when choosing them.
type Effect uint32

// The effects.
const (
	TakesDown       Effect = 1 << iota // a node's server goes down; the end of the fault starts one again
	CutsPower                          // the node's machine loses power, and so its unsynced data
	PromotesReplica                    // a node's replica becomes its master
	ReturnsOld                         // a node comes back as it was some time before
	KeepsRunID                         // a node that forgets comes back with the same run id
	SplitsMaster                       // a node has two masters
	StopsNode                          // a node's server is up but does not answer
	ReturnsErrors                      // nodes answer with errors
	Evicts                             // a node drops keys before they expire
	RevokesLeases                      // a store ends sessions that are kept alive
	RestartsTTLs                       // what expires in a store does so later

	CutsLinks    // messages between clients and nodes are held back
	CutsPeers    // messages between nodes of a store are held back
	Delays       // messages take longer, independently of each other
	Narrows      // messages queue for a limited bandwidth, without a bound
	Loses        // transmissions of messages are lost
	Resets       // connections are reset
	StrikesOnce  // the fault acts on each link only once
	Duplicates   // requests arrive twice
	DelaysAccess // accesses to the guarded resource take longer
	Draws        // each message draws a random number

	StopsClient  // a client's program stops, and resumes at the end
	StopsMachine // a client's machine stops, and some or all of its clocks
	EndsClient   // a client ends for good
	CancelsCall  // a call of a client is cancelled
	Clones       // clients draw the same random numbers

	StepsClock   // a wall clock steps once
	WandersClock // a clock runs wrong, so its error changes while the fault lasts
	FreezesWall  // a wall clock stops while its machine goes on
	SettlesClock // once the fault is over, the clocks that it affected run right
)

// Any reports whether some effect is in both sets.
func (e Effect) Any(of Effect) bool { return e&of != 0 }

// Effects is what one fault does, with its values.
type Effects struct {
	Does   Effect
	Client int         // the client whose program the fault stops or ends, or whose call it cancels; 0: none
	Away   env.NodeSet // nodes that some client may not reach, or that answer with errors, while the fault lasts
	Outage Outage      // of a fault that takes a server down
	Clock  ClockError  // of a fault that affects clocks
}

// Outage is the effect of a fault that takes a node's server down.
type Outage struct {
	Node         int           // 0: the fault takes no server down
	Loses        bool          // something that the node had acknowledged is lost
	RestartDelay time.Duration // the machine restarts the server after this time by its wall clock; 0: at the end of the fault
	Stays        bool          // no server starts again, even if the fault ends
}

// ClockError is the effect of a fault on the clocks of one machine.
type ClockError struct {
	Machine Machine       // zero: the fault affects no clock
	Step    time.Duration // the wall clock steps by this; below 0: back
	Every   time.Duration // above 0: the period in which the wall clock steps forth and back
	PPM     int64         // all clocks run fast by this, in parts per million; below 0: slow
	Stops   ClockSet      // these clocks stand still until the end
	AtEnd   bool          // all this begins when the fault ends: another machine takes over
	Misses  bool          // the wall clock steps at the end instead, and back by the length of the fault
	Healing Healing       // how the wall clock's error is corrected at the end

	// Suspends: the machine's program stops too. It stops before the clocks, and resumes after them.
	Suspends bool
}

// OnlySteps reports whether the fault, and its healing, do nothing but step the wall clock.
func (e ClockError) OnlySteps() bool {
	return e.PPM == 0 && !e.Suspends && e.Stops == NoClock && e.Healing.Heal != HealSlew
}

// ClockSet is a set of clocks of a machine.
type ClockSet uint8

// The sets of clocks.
const (
	NoClock        ClockSet = iota
	WallClock               // the wall clock
	MonotonicClock          // the clock that timers use
	AllClocks               // every clock
)

// Has reports whether a clock is in the set.
func (c ClockSet) Has(clock env.Clock) bool {
	return c == AllClocks || c == WallClock && clock == env.Wall || c == MonotonicClock && clock == env.Monotonic
}
