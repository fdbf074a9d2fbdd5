package checker

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Finding is the result for one property of one history. It is data; [Finding.Story] puts it
// into words.
type Finding struct {
	Property Property `json:"property"`
	Verdict  Verdict  `json:"verdict"`

	// Count is the number of violations seen.
	Count int `json:"count"`

	// Events describes the first violation, in the order of time. For another verdict it is
	// what the verdict rests on.
	Events []Statement `json:"events,omitempty"`

	// Meanwhile lists the faults during the violation, if they are not among its events. One
	// statement of the kind NoFault or NoFaultThen says that there was none.
	Meanwhile []Statement `json:"meanwhile,omitempty"`

	// Causes are the assumptions that were broken, each with its evidence. One cause
	// without an assumption says that none is seen to be broken, and what is seen instead.
	Causes []Cause `json:"causes,omitempty"`

	// Undecided says why the verdict is unknown though the property checker itself found
	// otherwise: the history is cut short, or the machine was too slow.
	Undecided string `json:"undecided,omitempty"`

	// First is the two grants of the first violation, if it is about two grants.
	First *Pair `json:"first,omitempty"`

	// Where is the part of the history to look at: the first violation, or what could not
	// be decided. Nil: no part in particular.
	Where *Place `json:"where,omitempty"`

	// told is the story of a finding that was stored without events.
	told string
}

// Told returns a finding with nothing but its story, as it is stored in results and saved
// cases.
func Told(p Property, v Verdict, story string) Finding {
	return Finding{Property: p, Verdict: v, told: story}
}

// findingJSON is a finding without methods, for encoding.
type findingJSON Finding

// MarshalJSON adds the story, for readers that do not render findings.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		findingJSON
		Story string `json:"story"`
	}{findingJSON(f), f.Story()})
}

// UnmarshalJSON reads a finding. It returns an error if the property or the verdict is missing. If the
// finding was written before findings had events, it keeps the story.
func (f *Finding) UnmarshalJSON(text []byte) error {
	var read struct {
		findingJSON
		Story string `json:"story"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	switch {
	case read.Property == "":
		return errors.New("a finding has no property")
	case !read.Verdict.valid():
		return fmt.Errorf("the finding of %s has no verdict", read.Property)
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

// Statement is one thing that a finding says. Its kind determines its fields: see
// [StatementKind]. Instants are nanoseconds since the history began, durations are
// nanoseconds. A field that is left out is 0 or unknown.
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

// UnmarshalJSON reads a statement. It returns an error if a field is missing without which statements of
// its kind cannot be put into words.
func (s *Statement) UnmarshalJSON(text []byte) error {
	type plain Statement
	var read plain
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	missing := ""
	switch read.Kind {
	case KeyLost:
		if len(read.Nodes) == 0 {
			missing = "nodes"
		}
	case Overlap, HoldEnded:
		if read.End == nil && read.Detail != "empty" && read.Detail != "beyond" {
			missing = "end"
		}
	case RefusedInRow, FewVotes:
		if read.Share == nil {
			missing = "share"
		}
	}
	if missing != "" {
		return fmt.Errorf("a statement of the kind %q has no %s", read.Kind, missing)
	}
	*s = Statement(read)
	return nil
}

// NodeTime is a node, and the time of its event; 0 if it is not stated.
type NodeTime struct {
	Node int          `json:"node"`
	At   history.Time `json:"at,omitempty"`
}

// Share is a part of the nodes that keep a lock. Votes are given if nodes have different
// numbers of votes.
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

// because returns a finding with what its verdict rests on.
func because(v Verdict, events ...Statement) Finding { return Finding{Verdict: v, Events: events} }

// share is how much of the electorate a set is.
func (e electorate) share(s nodes) *Share {
	share := &Share{Nodes: (s & e.voters()).count(), OfNodes: e.voters().count()}
	if e.Weights != nil {
		share.Votes, share.OfVotes = e.Count(uint64(s)), e.All
	}
	return share
}
