package nemesis

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Effect is a set of what faults do to a world. Whoever has to know what a fault does (promises, hunts, the
// shrinker, an exploration, backends, pages) asks for effects, never for kinds. So a new kind has its place
// everywhere by the effects that it states.
type Effect uint32

// The effects.
const (
	TakesDown       Effect = 1 << iota // a node's server goes down; at the end of the fault one comes back
	CutsPower                          // with its machine, so that unsynced data is lost
	PromotesReplica                    // a node's replica becomes its master
	ReturnsOld                         // a node comes back as it was some time before
	KeepsRunID                         // a node that forgets comes back with the same run id
	SplitsMaster                       // a node has two masters
	StopsNode                          // a node's server is up and answers nobody
	ReturnsErrors                      // nodes answer with errors
	Evicts                             // a node drops keys before they expire

	CutsLinks    // messages between clients and nodes are held back
	CutsPeers    // messages between nodes of a store are held back
	Delays       // messages take longer, each by itself
	Narrows      // messages wait for one another, without a bound
	Loses        // transmissions of messages are lost
	Resets       // connections are reset
	StrikesOnce  // the fault strikes each link once, and does nothing before or after
	Duplicates   // requests arrive twice
	DelaysAccess // accesses to the guarded resource take longer
	Draws        // each message draws a random number

	StopsClient  // a client's program stops, and goes on at the end
	StopsMachine // with its machine, some or all of whose clocks stop
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
	Client int         // whose program the fault stops or ends, or whose call it cancels; 0: nobody's
	Away   env.NodeSet // nodes that some client may not reach, or that answer with errors, while the fault lasts
	Outage Outage      // if it takes a server down
	Clock  ClockError  // if it affects clocks
}

// Outage is the effect of a fault that takes a node's server down.
type Outage struct {
	Node         int           // 0: the fault takes no server down
	Loses        bool          // something that the node had acknowledged is lost
	RestartDelay time.Duration // the machine restarts the server after this time of its own wall clock; 0: at the end of the fault
	Stays        bool          // no server starts again, whatever the end
}

// ClockError is the effect of a fault on the clocks of one machine.
type ClockError struct {
	Machine Machine       // zero: the fault affects no clock
	Step    time.Duration // by which the wall clock steps; below 0: back
	Every   time.Duration // above 0: the wall clock steps forth and back again and again, after this time each
	PPM     int64         // by which all clocks run fast, in parts per million; below 0: slow
	Stops   ClockSet      // the clocks that stand still until the end
	Misses  bool          // the wall clock also misses the time that the fault lasts
	Healing Healing       // what becomes of the error of the wall clock at the end

	// Suspends says that the machine's program stops with its clocks. It stops before them, and goes on
	// after them.
	Suspends bool
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

// ClockFault is an action that affects nothing but clocks, and perhaps the program of their machine. Package
// world injects every such kind by its ClockError, future kinds included.
type ClockFault interface {
	Action
	Clock() ClockError
}

// always are the effects that all faults of a kind have.
var always = func() map[Kind]Effect {
	of := make(map[Kind]Effect, len(kinds))
	for _, k := range kinds {
		of[k.zero.Kind()] = k.zero.Effects(Setting{}).Does
	}
	return of
}()

// Does reports whether all faults of a kind have one of these effects. Those of an unknown kind have none.
func (k Kind) Does(any Effect) bool { return always[k].Any(any) }

// KindsThat lists the kinds all of whose faults have one of these effects, in the order of [Kinds].
func KindsThat(do Effect) []Kind {
	names, _ := Kinds()
	return slices.DeleteFunc(names, func(k Kind) bool { return !k.Does(do) })
}

// Does reports whether a fault of the plan has one of these effects.
func (p Plan) Does(any Effect) bool {
	return slices.ContainsFunc(p, func(f Fault) bool { return f.Action.Effects(Setting{}).Does.Any(any) })
}

// NodesThat lists the nodes to which faults of the plan do one of these effects, each once, in the order of the
// plan.
func (p Plan) NodesThat(get Effect) (nodes []int) {
	for _, f := range p {
		if _, named := Named(f.Action); f.Action.Effects(Setting{}).Does.Any(get) {
			nodes = append(nodes, slices.DeleteFunc(named, func(n int) bool { return slices.Contains(nodes, n) })...)
		}
	}
	return nodes
}

// BringsBack reports whether the fault takes a node down that comes back: its end, or the node's
// machine, starts a server again.
func (f *Fault) BringsBack() bool {
	o := f.Action.Effects(Setting{}).Outage
	return o.Node != 0 && !o.Stays && !f.ForGood()
}

// Simpler returns an action of a simpler kind, or with simpler values, that does nearly what this one does, or
// nil.
func Simpler(a Action, s Setting) Action {
	if k, ok := a.(interface{ simpler(s Setting) Action }); ok {
		return k.simpler(s)
	}
	return nil
}

// Opposite returns the same clock error in the other direction, if the kind has one.
func Opposite(a Action) (Action, bool) {
	if k, ok := a.(interface{ opposite() Action }); ok {
		return k.opposite(), true
	}
	return a, false
}

// Pruner is implemented by actions whose lists may become empty when clients or nodes are removed.
type Pruner interface {
	// Prune removes what names nobody any more, and reports whether the fault still does something.
	Prune() bool
}
