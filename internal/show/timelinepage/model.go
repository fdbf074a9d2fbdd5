package timelinepage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Model is what a timeline shows. The page's script draws its JSON. Times are nanoseconds
// since the run began.
type Model struct {
	End     history.Time `json:"end"` // of the history
	Clients int          `json:"clients"`
	Nodes   int          `json:"nodes"`

	// From and To bound the part that is shown: all, unless the history is very long.
	From history.Time `json:"from"`
	To   history.Time `json:"to"`

	// Lanes are listed from top to bottom. Lanes of one group are adjacent.
	Lanes []Lane `json:"lanes"`

	// Shades are the faults, in the order in which they began.
	Shades []Shade `json:"shades"`

	// Grants are referred to by their index.
	Grants []Grant `json:"grants"`

	// Finds are the violated and the undecided properties, in the order of the properties.
	Finds []Finding `json:"finds"`

	// Omitted says what of a long history is not shown; "" if all is.
	Omitted string `json:"omitted,omitempty"`

	// Anchor is a prefix of the anchors of findings ("find-V1") on a page with several
	// timelines.
	Anchor string `json:"-"`
}

// Group is what a lane is about. Its text is shown to readers.
type Group string

// The groups, in their order.
const (
	Clients Group = "clients"
	Guarded Group = "guarded resource"
	Nodes   Group = "nodes"
	Store   Group = "store"   // of locks that are not kept by nodes
	Clocks  Group = "clocks"  // how far each is ahead of true time
	Service Group = "service" // latency, tries, outages
)

// Lane is a row of the timeline. It has spans and marks, or samples, in the order of time.
type Lane struct {
	Group Group  `json:"group"`
	Name  string `json:"name"` // "client 3"

	Spans   []Span   `json:"spans,omitempty"` // may overlap; see [States]
	Marks   []Mark   `json:"marks,omitempty"`
	Samples []Sample `json:"samples,omitempty"`

	// Line: samples are joined by lines. Otherwise each is a dot.
	Line bool `json:"line,omitempty"`
	// Thinned: samples were left out, see [thinned].
	Thinned bool `json:"thinned,omitempty"`
	// Unit of the samples: "ns" or "tries".
	Unit string `json:"unit,omitempty"`
}

// State is what goes on during a span.
type State string

// The states of clients, nodes and the service. A later state is drawn above an earlier one.
const (
	Waiting  State = "waiting"  // from a client's first acquire to its grant, with the pauses between tries
	Holding  State = "holding"  // within the validity
	Overdue  State = "overdue"  // the client works on past its validity
	Extends  State = "extends"  // a call of extend
	Releases State = "releases" // a call of release
	Access   State = "access"   // to the guarded resource
	Paused   State = "paused"
	Dead     State = "dead"
	Cut      State = "cut"  // the client has no link to some nodes, which Text lists
	Key      State = "key"  // a node keeps the key of Grant
	Down     State = "down" // a node, or the store, does not run
	Outage   State = "outage"
	Clash    State = "clash" // two clients hold the lock at once, by a finding
)

// States lists all states in their order.
func States() []State {
	return []State{Waiting, Holding, Overdue, Extends, Releases, Access, Paused, Dead, Cut, Key, Down, Outage, Clash}
}

// Span is something that lasted for a time.
type Span struct {
	From  history.Time `json:"f"`
	To    history.Time `json:"t"`
	State State        `json:"s"`
	Grant int          `json:"g"`           // index; -1: none
	Text  string       `json:"x,omitempty"` // what the state does not say
	Open  bool         `json:"o,omitempty"` // it has not ended when the history ends

	ref grantRef // of the grant, until all are known
}

// Mark is something that happened at an instant.
type Mark struct {
	At    history.Time `json:"t"`
	Kind  string       `json:"k"` // of the event: "kill", "node-up", "apply"
	Grant int          `json:"g"`
	Text  string       `json:"x,omitempty"`
	Bad   bool         `json:"b,omitempty"` // it is a finding

	ref grantRef // of the grant, until all are known
}

// Sample is a value at an instant.
type Sample struct {
	At    history.Time `json:"t"`
	Value float64      `json:"v"`
	Bad   bool         `json:"b,omitempty"` // a refused try
}

// Shade is the time of a fault.
type Shade struct {
	Number int          `json:"n"` // in the plan
	Name   string       `json:"x"`
	From   history.Time `json:"f"`
	To     history.Time `json:"t"`
	Open   bool         `json:"o,omitempty"`
	// Lanes are the indices of the affected lanes; empty: all.
	Lanes []int `json:"l,omitempty"`
}

// Grant is a grant, as the page describes it.
type Grant struct {
	Client   int          `json:"c"`
	Resource string       `json:"r"`
	Token    string       `json:"k"`
	Call     history.Time `json:"a"` // of acquire
	Granted  history.Time `json:"f"`
	To       history.Time `json:"t"`                  // until when the client may have believed that it holds
	How      string       `json:"h"`                  // what ended the hold
	Fence    uint64       `json:"n,omitempty,string"` // 0: none; as a string because JavaScript loses digits
}

// Finding is a property that is violated or undecided.
type Finding struct {
	Property string          `json:"p"` // "V1 lease exclusion"
	Verdict  checker.Verdict `json:"v"`
	Story    []Step          `json:"x"`
	Count    int             `json:"n"` // of violations

	// From and To are where to look. Both are 0 if there is no such place.
	From history.Time `json:"f"`
	To   history.Time `json:"t"`

	// Grants are the indices of the grants involved, the two of an overlap first.
	Grants []int `json:"g,omitempty"`

	// Also lists other properties that the same overlap violates.
	Also []Also `json:"a,omitempty"`
}

// Also is a further property of a finding.
type Also struct {
	Property string `json:"p"` // "V2 section exclusion"
	Count    int    `json:"n"` // of violations
}

// laneKey identifies a lane by its group and the number of the client, node, clock or
// measurement.
type laneKey struct {
	group  Group
	number int
}

// The lanes without a client or node.
var (
	guardedLane      = laneKey{Guarded, 0}
	storeLane        = laneKey{Store, 0}
	acquireLane      = laneKey{Service, 1}
	triesLane        = laneKey{Service, 2}
	availabilityLane = laneKey{Service, 3}
)

func (l laneKey) String() string {
	switch {
	case l == guardedLane || l == storeLane:
		return string(l.group)
	case l == acquireLane:
		return "time to acquire"
	case l == triesLane:
		return "tries a grant"
	case l == availabilityLane:
		return "availability"
	case l.group == Clients:
		return fmt.Sprintf("client %d", l.number)
	}
	return fmt.Sprintf("node %d", l.number)
}

// groups lists all groups in their order.
var groups = []Group{Clients, Guarded, Nodes, Store, Clocks, Service}

func (l laneKey) compare(m laneKey) int {
	return cmp.Or(cmp.Compare(slices.Index(groups, l.group), slices.Index(groups, m.group)), cmp.Compare(l.number, m.number))
}

// grantRef is what an event says of its grant. The grant is looked up when all are known.
type grantRef struct {
	client   int // 0: unknown
	resource string
	token    string // "": there is no grant
}

func refOf(e *history.Event) grantRef { return grantRef{e.Client, e.Resource, e.Token} }

// Step is a line of a finding's story, with its place on the timeline.
type Step struct {
	Text string   `json:"x"`
	Kind StepKind `json:"k"`

	// From and To are when it happened, if it is Placed.
	Placed bool         `json:"p,omitempty"`
	From   history.Time `json:"f,omitempty"`
	To     history.Time `json:"t,omitempty"`

	Lane int `json:"l"` // index of the lane of what it is about; -1: none, or a fault

	about laneKey
}

// StepKind says what a step is about.
type StepKind string

// The kinds of steps.
const (
	FaultStep StepKind = "fault" // faults, or that there was none
	EventStep StepKind = "event" // of the violation
	CauseStep StepKind = "cause" // the assumption that was broken, or that none was
)
