package runner

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Branch is an event of a run from which on it goes another way than its seed says: every random
// number that is drawn from there on follows from the branch's own seed.
type Branch struct {
	Event int    `json:"event"` // the number of events before it
	Seed  uint64 `json:"seed"`
}

// Message is a message of a run: number Nth, from 1, of one direction of the link between a client and
// a node.
type Message struct {
	Client int               `json:"client"`
	Node   int               `json:"node"`
	Way    nemesis.Direction `json:"way"`
	Nth    int               `json:"nth"`
}

// String prints as in "request 3 of client 1 to node 2".
func (m Message) String() string {
	if m.Way == nemesis.Replies {
		return fmt.Sprintf("reply %d of node %d to client %d", m.Nth, m.Node, m.Client)
	}
	return fmt.Sprintf("request %d of client %d to node %d", m.Nth, m.Client, m.Node)
}

// Hooks see what is random in a run, and can change it. Each may be nil.
type Hooks struct {
	// Message is called for each message when it is sent, with the number of events before it. If redraw is
	// true, its latency is drawn anew, from the seed.
	Message func(m Message, event int) (seed uint64, redraw bool)

	// Deviation is called for each turn that a run with choices takes.
	Deviation func(Deviation)
}

// Deviation is a turn of a run, with what is chosen there.
type Deviation struct {
	Turn
	Kind ChoiceKind
	Ways int // at the point
	At   history.Time

	Message Message // whose latency it is; the zero value: a call of the guarded resource
	Client  int     // that draws the number; 0: Source does
	Source  string  // such as "commits of the store"
	Number  int     // from 1: of those that are drawn so
	Node    int     // that keeps the changes
	First   string  // the event that comes first, in words
}

// ChoiceKind is what is chosen at a point of a run.
type ChoiceKind string

// The kinds.
const (
	ChosenLatency ChoiceKind = "latency"
	ChosenNumber  ChoiceKind = "number"
	ChosenOrder   ChoiceKind = "order"   // of simultaneous events
	ChosenChanges ChoiceKind = "changes" // that a node keeps
)

// String prints as in "request 3 of client 1 to node 2 takes the longest time".
func (d Deviation) String() string {
	switch d.Kind {
	case ChosenLatency:
		what := "a message of the guarded resource"
		if d.Message != (Message{}) {
			what = d.Message.String()
		}
		return what + " takes " + rank(d.Way+1, d.Ways, "shortest", "longest", "time")
	case ChosenNumber: // way 0 is a random one
		value := rank(d.Way, d.Ways-1, "smallest", "largest", "value")
		if d.Client == 0 {
			return fmt.Sprintf("number %d of the %s is %s", d.Number, d.Source, value)
		}
		return fmt.Sprintf("client %d draws %s, as its number %d", d.Client, value, d.Number)
	case ChosenChanges: // likewise
		switch lost := d.Ways - 1 - d.Way; lost {
		case 0:
			return fmt.Sprintf("node %d loses no change", d.Node)
		case 1:
			return fmt.Sprintf("node %d loses its last change", d.Node)
		default:
			return fmt.Sprintf("node %d loses its last %d changes", d.Node, lost)
		}
	}
	return fmt.Sprintf("at %v, %s comes first, of %d events", d.At.Sub(0), d.First, d.Ways)
}

// rank names the k-th of n values.
func rank(k, n int, first, last, value string) string {
	switch k {
	case 1:
		return "the " + first + " " + value
	case n:
		return "the " + last + " " + value
	}
	return fmt.Sprintf("%s %d of %d", value, k, n)
}

// Course is how a run departs from what its seed says. The zero value: it does not.
type Course struct {
	// Choices are made in place of the seed's; nil: none.
	Choices *Choices `json:"choices,omitempty"`

	// Branches are in the order of their events. With choices, a branch draws these from there on.
	Branches []Branch `json:"branches,omitempty"`
}

// Straight reports whether the run follows its seed.
func (c Course) Straight() bool { return c.Choices == nil && len(c.Branches) == 0 }

// Choices are made at the points of a run at which it can go on in several ways, as an exploration
// makes them: every message has one of a few latencies, and simultaneous events have an order. Way 0
// is taken, but for the turns.
type Choices struct {
	Latencies  int    `json:"latencies"`             // of a message, evenly spaced over its range
	Draws      int    `json:"draws"`                 // values of each number, beside a random one
	EveryOrder bool   `json:"every_order,omitempty"` // of the events of one instant, also of different machines
	Turns      []Turn `json:"turns,omitempty"`       // in the order of their points
}

// Turn is a point, from 0, at which another way than the first is taken.
type Turn struct {
	Point int `json:"point"`
	Way   int `json:"way"`
}

// WithCourse returns the experiment with runs that take a course. Its backend must be able to branch:
// see [Backend.Branching].
func (e Experiment) WithCourse(c Course) Experiment {
	e.course = c
	return e
}

// Deviations repeats a run with choices, and lists its turns.
func (e Experiment) Deviations(ctx context.Context, seed uint64) (all []Deviation, err error) {
	if e.course.Choices == nil || len(e.course.Choices.Turns) == 0 {
		return nil, nil
	}
	e = e.WithOpener(e.backend.Hooked(e.course, Hooks{Deviation: func(d Deviation) { all = append(all, d) }}))
	_, err = e.Run(ctx, seed, nil)
	return all, err
}

// choicesText writes choices as in "l2d2-17-1+40-1"; an o after the numbers stands for every order.
func choicesText(c *Choices) string {
	order := ""
	if c.EveryOrder {
		order = orderMark
	}
	text, between := fmt.Sprintf("l%dd%d%s", c.Latencies, c.Draws, order), "-"
	for _, t := range c.Turns {
		text += fmt.Sprintf("%s%d-%d", between, t.Point, t.Way)
		between = "+"
	}
	return text
}

const orderMark = "o"

var choicesForm = regexp.MustCompile(`^l([0-9]{1,9})d([0-9]{1,9})(o?)(?:-(.*))?$`)

func parseChoices(text string) (*Choices, error) {
	wrong := fmt.Errorf("has the choices %q: want those such as l2d2-17-1+40-1", text)
	parts := choicesForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, wrong
	}
	c := &Choices{EveryOrder: parts[3] != ""}
	c.Latencies, _ = strconv.Atoi(parts[1])
	c.Draws, _ = strconv.Atoi(parts[2])
	switch {
	case c.Latencies < 1:
		return nil, wrong
	case parts[4] == "":
		return c, nil
	}
	for one := range strings.SplitSeq(parts[4], "+") {
		point, way, _ := strings.Cut(one, "-")
		t := Turn{}
		var err error
		if t.Point, err = strconv.Atoi(point); err == nil {
			t.Way, err = strconv.Atoi(way)
		}
		if n := len(c.Turns); err != nil || t.Point < 0 || t.Way < 1 || n > 0 && t.Point <= c.Turns[n-1].Point {
			return nil, wrong
		}
		c.Turns = append(c.Turns, t)
	}
	return c, nil
}

// branchText writes branches as in "b120-7+300-1".
func branchText(branches []Branch) string {
	all := make([]string, len(branches))
	for i, b := range branches {
		all[i] = fmt.Sprintf("%d-%d", b.Event, b.Seed)
	}
	return branchMark + strings.Join(all, "+")
}

const branchMark = "b"

func parseBranches(text string) (branches []Branch, err error) {
	list, _ := strings.CutPrefix(text, branchMark)
	for one := range strings.SplitSeq(list, "+") {
		event, seed, _ := strings.Cut(one, "-")
		b := Branch{}
		if b.Event, err = strconv.Atoi(event); err == nil {
			b.Seed, err = strconv.ParseUint(seed, 10, 64)
		}
		if n := len(branches); err != nil || b.Event < 0 || n > 0 && b.Event < branches[n-1].Event {
			return nil, fmt.Errorf("has the branches %q: want events in their order, each with a seed, as in b120-7+300-1", text)
		}
		branches = append(branches, b)
	}
	return branches, nil
}
