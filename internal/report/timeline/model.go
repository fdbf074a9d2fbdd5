package timeline

import (
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// Model is what is shown of a run. Its JSON is what the page's script draws: indices, and
// times in nanoseconds since the run began.
type Model struct {
	End     history.Time `json:"end"` // of the history
	Clients int          `json:"clients"`
	Nodes   int          `json:"nodes"`

	// From and To are the part of it that is shown: all, unless it is very long.
	From history.Time `json:"from"`
	To   history.Time `json:"to"`

	// Lanes come from top to bottom, those of a group in one piece.
	Lanes []Lane `json:"lanes"`

	// Shades are the faults, in the order in which they began.
	Shades []Shade `json:"shades"`

	// Grants are the grants that anything refers to, by its index here.
	Grants []Grant `json:"grants"`

	// Finds are what is violated, or could not be decided, in the order of the properties.
	Finds []Find `json:"finds"`

	// Omitted says in words what of a very long history is not shown; empty: nothing is left out.
	Omitted string `json:"omitted,omitempty"`

	// Anchor stands before the anchors of the finds ("find-V1"), where a page has several
	// timelines.
	Anchor string `json:"-"`
}

// Group is what a lane is about. Its text is its name for people.
type Group string

// The groups, in their order.
const (
	Clients Group = "clients"
	Guarded Group = "guarded resource"
	Nodes   Group = "nodes"
	Store   Group = "store"   // of the locks that are not kept by nodes
	Clocks  Group = "clocks"  // how far each is ahead of the ground clock
	Service Group = "service" // latency, tries, outages
)

// Lane is a row of the timeline: spans and marks, or samples, in the order of their time.
type Lane struct {
	Group Group  `json:"group"`
	Name  string `json:"name"` // "client 3"

	Spans   []Span   `json:"spans,omitempty"` // may lie over each other: what is later in States is drawn above
	Marks   []Mark   `json:"marks,omitempty"`
	Samples []Sample `json:"samples,omitempty"`

	// Line says that samples are joined: the value changes evenly from one to the next.
	// Otherwise each is a point of its own.
	Line bool `json:"line,omitempty"`
	// Thinned says that there were too many: what is kept are the first, the last and the
	// extremes of each stretch of time.
	Thinned bool `json:"thinned,omitempty"`
	// Unit is that of the samples: "ns", "tries".
	Unit string `json:"unit,omitempty"`
}

// State is what goes on in a span.
type State string

// The states of clients, nodes and the service, in the order in which they are drawn over
// each other.
const (
	Waiting  State = "waiting"  // a client has called acquire, or sleeps between its tries
	Holding  State = "holding"  // it holds the lock, and its validity lasts
	Overdue  State = "overdue"  // it works on as if it held the lock, past its validity
	Extends  State = "extends"  // a call of extend
	Releases State = "releases" // a call of release
	Access   State = "access"   // to the guarded resource
	Paused   State = "paused"
	Dead     State = "dead"
	Cut      State = "cut"  // it cannot count on a round trip to some node (Text: to which)
	Key      State = "key"  // a node keeps a key (Grant: whose)
	Down     State = "down" // a node, or its store, does not run
	Outage   State = "outage"
	Clash    State = "clash" // two hold at once: where a finding of two grants says so
)

// States are all states, in their order.
func States() []State {
	return []State{Waiting, Holding, Overdue, Extends, Releases, Access, Paused, Dead, Cut, Key, Down, Outage, Clash}
}

// Span is something that went on for a time.
type Span struct {
	From  history.Time `json:"f"`
	To    history.Time `json:"t"`
	State State        `json:"s"`
	Grant int          `json:"g"`           // index; -1: none
	Text  string       `json:"x,omitempty"` // what there is to say of it beside its state
	Open  bool         `json:"o,omitempty"` // it goes on when the history ends
}

// Mark is something that happened at an instant.
type Mark struct {
	At    history.Time `json:"t"`
	Kind  string       `json:"k"` // of the event, by its name: "kill", "node-up", "apply"
	Grant int          `json:"g"`
	Text  string       `json:"x,omitempty"`
	Bad   bool         `json:"b,omitempty"` // it is what a judge has found
}

// Sample is a value at an instant.
type Sample struct {
	At    history.Time `json:"t"`
	Value float64      `json:"v"`
	Bad   bool         `json:"b,omitempty"` // it failed: a try that was refused
}

// Shade is a fault.
type Shade struct {
	Number int          `json:"n"` // in the plan
	Name   string       `json:"x"` // what it does, in words
	From   history.Time `json:"f"`
	To     history.Time `json:"t"`
	Open   bool         `json:"o,omitempty"`
	// Lanes are the indices of the lanes that it is about; empty: all.
	Lanes []int `json:"l,omitempty"`
}

// Grant is one grant, as the page tells it when one points at it or selects it.
type Grant struct {
	Client   int          `json:"c"`
	Resource string       `json:"r"`
	Token    string       `json:"k"`
	Call     history.Time `json:"a"` // of acquire
	Granted  history.Time `json:"f"`
	To       history.Time `json:"t"`                  // until when the client may have believed that it holds
	How      string       `json:"h"`                  // what ended that, in words
	Fence    uint64       `json:"n,omitempty,string"` // 0: it bears none; not all are numbers of JavaScript
}

// Find is something that is violated, or undecided.
type Find struct {
	Property string          `json:"p"` // "V1 lease exclusion"
	Verdict  checker.Verdict `json:"v"`
	Story    []string        `json:"x"` // a line for each thing that happened
	Count    int             `json:"n"` // of violations

	// From and To are where to look; To is not before From. Both 0: nowhere in particular.
	From history.Time `json:"f"`
	To   history.Time `json:"t"`

	// Grants are those that it names, the two of an overlap first.
	Grants []int `json:"g,omitempty"`

	// Also are other properties that the same overlap violates: their stories would tell it
	// once more.
	Also []Also `json:"a,omitempty"`
}

// Also is a property that is violated by what another find tells.
type Also struct {
	Property string `json:"p"` // "V2 section exclusion"
	Count    int    `json:"n"` // of violations
}
