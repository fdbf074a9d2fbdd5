package timeline

import (
	"math"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Timeline is the state that the events of a history describe so far. It finds the client, hold and call that each
// event concerns, applies the events of one instant in an order in which they can have happened, and keeps
// the holds that further events can concern.
type Timeline struct {
	Header history.Header
	docket docket

	Now       history.Time
	atInstant int // events of this instant
	deferred  []deferredEvent
	singles   []history.Event // events of this instant whose kind is in [single]
	fact      Fact            // reused for every event
	reentry   history.Event   // a grant that became a [Reentered]

	observers []Observer
	settlers  []Settler       // by observer; nil: the observer is no settler
	routes    [maxKinds]route // by kind of event
	settling  uint64          // to settle at the end of this instant, as bits: kinds of windows, and above them settlers
	intervals *intervals      // nil: nobody reads intervals

	Clients          []*Client // by number
	resources        map[string]*Resource
	recent           [64]*Resource // resources looked up last, by a cheap hash of their names
	windows          [WindowKinds]windows
	deadlines        deadlines
	retiring         []*Hold // holds that may be retired at the end of the instant
	spare            []*Hold // retired holds, to be reused with their numbers
	Places           int     // how many holds have a number
	serial           uint64  // of the newest hold
	FollowStragglers bool    // remember writes of holds that are over: see [straggler]

	Faults Faults

	Down             Nodes                // nodes whose server is not running
	Started          map[int]history.Time // by node: when its server last came up
	downed           map[int]history.Time // by node: when its server last went down
	quarantinedUntil map[int]history.Time // by node: when its quarantine is over, at the earliest
	quarantine       time.Duration        // the shortest, in true time, within the allowance for clocks
	LastEmptied      Comeback             // the last node that came back without all of its keys
	Comebacks        []Comeback           // the last such comeback of each node
	ForgetfulLeader  Comeback             // the last node that came to lead a store without all acknowledged writes
	led              history.Time         // when the leader of a store last changed
	leaderless       bool                 // the store has no leader
	seen             []history.Time       // by node (0: the store): until when all changes of its keys or entries are recorded; nil: no watch
	seenSince        []history.Time       // the same: since when
	Answered         []history.Time       // by node (0: the store): when it last answered its watch; nil: no watch
	Changes          []KeyChange          // of this instant, applied at its end
}

// route is the receivers of events of one kind, as bits.
type route struct {
	observers uint64
	settling  uint64 // added to [Timeline.settling]
	windows   uint8  // by kind of window
}

// deferredEvent is an event that follows from others of its instant, which are not recorded yet.
type deferredEvent struct {
	history.Event
	ordinal int
}

// LongAgo is before every instant of a history, with room to add to it.
const LongAgo history.Time = math.MinInt64 / 2

// Forever is after every instant of a history.
const Forever history.Time = math.MaxInt64

// Remove removes v from a short list and keeps the order.
func Remove[T comparable](list []T, v T) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == v {
			return Cut(list, i)
		}
	}
	return list
}

// Cut removes an element of a list, most often the last.
func Cut[T any](list []T, i int) []T {
	last := len(list) - 1
	if i < last {
		copy(list[i:], list[i+1:])
	}
	var none T
	list[last] = none
	return list[:last]
}

// Without removes the elements of a list for which so is true, in order.
func Without[T any](list []T, so func(*T) bool) []T {
	kept := list[:0]
	for i := range list {
		if !so(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	clear(list[len(kept):])
	return kept
}
