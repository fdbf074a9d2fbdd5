package checker

import (
	"encoding/json"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Finding is what a checker finds of one property in one history. It is data: [Finding.Story]
// puts it into words, and nothing else does.
type Finding struct {
	Property Property `json:"property"`
	Verdict  Verdict  `json:"verdict"`

	// Count is the number of violations seen.
	Count int `json:"count"`

	// Events tells the first violation, in the order of time; of any other verdict what
	// it rests on.
	Events []Statement `json:"events,omitempty"`

	// Meanwhile is what was done to the world during the violation, where that is no
	// part of its events. One statement of the kind NoFault or NoFaultMeanwhile says
	// that nothing was.
	Meanwhile []Statement `json:"meanwhile,omitempty"`

	// Causes are the assumptions that were broken, each with its evidence. One cause
	// without an assumption says that none is seen to be broken, and what is seen instead.
	Causes []Cause `json:"causes,omitempty"`

	// Undecided says why the verdict is unknown though the property checker itself found
	// otherwise: the history is cut short, or the machine was too slow.
	Undecided string `json:"undecided,omitempty"`

	// First is the two grants of the first violation, where it is one of two
	// grants.
	First *Pair `json:"first,omitempty"`

	// Where is where in the history to look: the first violation, or what could not
	// be decided. Nil: nowhere in particular.
	Where *Place `json:"where,omitempty"`

	// told is the story of a finding that was stored without its events.
	told string
}

// Told returns a finding of which nothing but the story is known, as it is stored in
// results and saved cases.
func Told(p Property, v Verdict, story string) Finding {
	return Finding{Property: p, Verdict: v, told: story}
}

// findingJSON has the methods of no finding, so that encoding it does not recur.
type findingJSON Finding

// MarshalJSON adds the story, for those who do not render it themselves.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		findingJSON
		Story string `json:"story"`
	}{findingJSON(f), f.Story()})
}

// UnmarshalJSON reads a finding. Of one that was written before findings had events the
// story is kept.
func (f *Finding) UnmarshalJSON(text []byte) error {
	var read struct {
		findingJSON
		Story string `json:"story"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*f = Finding(read.findingJSON)
	if f.Events == nil {
		f.told = read.Story
	}
	return nil
}

// Cause is an assumption of the lock that was broken, and how that shows.
type Cause struct {
	Assumption Assumption  `json:"assumption,omitempty"` // "": none is seen to be broken
	Faultless  bool        `json:"faultless,omitempty"`  // no fault took place
	Evidence   []Statement `json:"evidence"`
}

// Statement is one thing that a finding says. Which fields it has depends on its kind: see
// [StatementKind]. Instants are nanoseconds since the history began, durations nanoseconds; a
// field that is left out is 0 or not known.
type Statement struct {
	Kind StatementKind `json:"kind"`

	At   history.Time `json:"at,omitempty"`   // when it happened
	From history.Time `json:"from,omitempty"` // of what lasted
	To   history.Time `json:"to,omitempty"`
	Call history.Time `json:"call,omitempty"` // when the call began that returned at At

	Client   int        `json:"client,omitempty"` // who did it, or whom it befell
	Other    int        `json:"other,omitempty"`  // the other client of two
	Node     int        `json:"node,omitempty"`
	Nodes    []NodeTime `json:"nodes,omitempty"` // and when it befell each, where that is known
	Resource string     `json:"resource,omitempty"`
	Token    string     `json:"token,omitempty"`

	For      time.Duration `json:"for,omitempty"`      // how long it took, lasted or was off
	Bound    time.Duration `json:"bound,omitempty"`    // how long it may
	TTL      time.Duration `json:"ttl,omitempty"`      // that was asked for, or the longest
	Validity time.Duration `json:"validity,omitempty"` // that was left

	Fence uint64 `json:"fence,omitempty"`
	Read  int64  `json:"read,omitempty"`  // the value that was read
	Wrote int64  `json:"wrote,omitempty"` // the value that was written

	Count int `json:"count,omitempty"`
	Of    int `json:"of,omitempty"`

	Share *Share `json:"share,omitempty"`
	End   *End   `json:"end,omitempty"` // of a hold

	// Detail is a word or two that tell apart statements of one kind, or the description
	// of a fault by whoever injected it.
	Detail string `json:"detail,omitempty"`
	Left   string `json:"left,omitempty"` // in which state a fault left a node
	More   bool   `json:"more,omitempty"` // see the kind
}

// NodeTime is a node, and when something befell it; 0: that is not told.
type NodeTime struct {
	Node int          `json:"node"`
	At   history.Time `json:"at,omitempty"`
}

// Share is how much of the nodes that keep a lock some nodes are. Votes are given where not
// every node has one vote.
type Share struct {
	Nodes   int `json:"nodes"`
	OfNodes int `json:"of_nodes"`
	Votes   int `json:"votes,omitempty"`
	OfVotes int `json:"of_votes,omitempty"`
}

// End is what ended a hold.
type End struct {
	By     string       `json:"by"` // the kind of event: release, lost, expiring, kill, lapse, or end: the history ended first
	Client int          `json:"client"`
	At     history.Time `json:"at"`
}

// because is a finding of a verdict, and what that rests on.
func because(v Verdict, events ...Statement) Finding { return Finding{Verdict: v, Events: events} }
