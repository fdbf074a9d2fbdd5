package checker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Finding is the result for one property of one history. The comments of its fields, and of those of
// [Event], [Cause], [Pair], [Grant] and [Place], are the table of docs/findings.md, which documents
// the JSON of a finding.
type Finding struct {
	Property  Property `json:"property"`            // what is asked of the lock
	Verdict   Verdict  `json:"verdict"`             // `holds`, `violated`, `unknown` or `n/a`
	Count     int      `json:"count"`               // number of violations; the other fields are about the first
	Duty      Duty     `json:"duty,omitempty"`      // the part of the contract that is violated
	Events    []Event  `json:"events,omitempty"`    // the violation, or what another verdict rests on, in the order of time
	Causes    []Cause  `json:"causes,omitempty"`    // the assumptions that were broken, or one without an assumption: what is seen instead
	Faultless bool     `json:"faultless,omitempty"` // no fault took place in the whole history
	Undecided string   `json:"undecided,omitempty"` // why the verdict is unknown whatever the events say: the history is cut short
	First     *Pair    `json:"first,omitempty"`     // the two grants of the violation, if it is about two
	Where     *Place   `json:"where,omitempty"`     // the part of the history to look at
}

// Cause is an assumption of the lock that was broken, and how that shows.
type Cause struct {
	Assumption Assumption `json:"assumption,omitempty"` // its name; left out: none is seen to be broken
	Evidence   []Event    `json:"evidence"`             // what shows it
}

// UnmarshalJSON reads a finding. It returns an error if the property or the verdict is missing.
func (f *Finding) UnmarshalJSON(text []byte) error {
	type plain Finding
	var read plain
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	switch {
	case read.Property == "":
		return errors.New("a finding has no property")
	case !read.Verdict.valid():
		return fmt.Errorf("the finding of %s has no verdict", read.Property)
	}
	*f = Finding(read)
	return nil
}

// Story tells the finding in one paragraph.
func (f Finding) Story() string {
	told := f.conclusions()
	if happened := f.happened(); len(happened) > 0 {
		told = append([]string{strings.Join(happened, "; ")}, told...)
	}
	return strings.Join(told, ". ")
}

// Lines tells the finding with a line for each event and each cause.
func (f Finding) Lines() []string { return append(f.happened(), f.conclusions()...) }

// happened tells the events.
func (f Finding) happened() []string {
	told := texts(f.Events)
	if f.Undecided == "" {
		return told
	}
	if len(told) > 0 {
		told[0] = "up to there: " + told[0]
	}
	return append([]string{f.Undecided}, told...)
}

// conclusions tells the causes.
func (f Finding) conclusions() (told []string) {
	for _, c := range f.Causes {
		switch {
		case c.Assumption != "":
			told = append(told, fmt.Sprintf("Broken assumption: %s (%s)", c.Assumption.Text(), c.Shown()))
		case f.Faultless:
			told = append(told, "No fault took place: "+c.Shown())
		default:
			told = append(told, "No assumption is seen to be broken: "+c.Shown())
		}
	}
	return told
}

// Shown tells the evidence: what is seen in the history.
func (c Cause) Shown() string { return strings.Join(texts(c.Evidence), "; ") }

func texts(events []Event) []string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = e.Text
	}
	return all
}

// violations counts the violations of a property and keeps the first.
type violations struct {
	count int
	first Finding
}

// add counts a violation. It calls tell for the first only, because describing a violation
// takes longer than finding it.
func (b *violations) add(tell func() Finding) {
	if b.count++; b.count == 1 {
		b.first = tell()
	}
}

// violated returns the finding if there was a violation.
func (b *violations) violated() Finding {
	f := b.first
	f.Verdict, f.Count = Violated, b.count
	return f
}

// Event is one thing that a finding says: data, and a sentence about it. Whoever finds it writes the
// sentence; readers print it, and take what they need to know from the other fields. A field that
// is left out does not apply or is not known.
type Event struct {
	Role Role         `json:"role"`           // what the event has to do with the verdict
	From history.Time `json:"from,omitempty"` // when it happened or began
	To   history.Time `json:"to,omitempty"`   // when it ended, if it took time

	Client   int        `json:"client,omitempty"`   // who did it, or whom it happened to
	Nodes    []NodeTime `json:"nodes,omitempty"`    // the nodes that it happened to
	Resource string     `json:"resource,omitempty"` // what is locked
	Token    string     `json:"token,omitempty"`    // of the acquisition

	Text string `json:"text"` // the sentence, without a capital letter and a full stop
}

// NodeTime is a node, and when something happened to it.
type NodeTime struct {
	Node int          `json:"node"`         // its number
	At   history.Time `json:"at,omitempty"` // when it happened to this node, if not as the event says
}

// Role says what an event has to do with the verdict.
type Role string

// The roles.
const (
	RoleFault        Role = "fault"         // something was done to the world, or a clock went wrong; or nothing was
	RoleAccess       Role = "access"        // a client used the lock, or what it guards
	RoleOverlap      Role = "overlap"       // two clients had the lock at once, or their sections or fences have no order
	RoleLoss         Role = "loss"          // a node, or the store, lost a key, kept it for too long, or did not have it
	RoleWait         Role = "wait"          // a client waited, or was refused
	RoleNotExercised Role = "not exercised" // nothing happened that could have violated the property
	RoleUnseen       Role = "unseen"        // the history does not show what would decide
)

// say adds the sentence.
func (e Event) say(format string, args ...any) Event {
	e.Text = fmt.Sprintf(format, args...)
	return e
}

// between adds two instants, in whatever order.
func (e Event) between(a, b history.Time) Event {
	e.From, e.To = min(a, b), max(a, b)
	return e
}

// because returns a finding with what its verdict rests on.
func because(v Verdict, events ...Event) Finding { return Finding{Verdict: v, Events: events} }

// Why a verdict is not applicable, or unknown, of several properties.
const (
	noBound       = "no bound is stated"
	keepsNothing  = "the lock keeps nothing on the nodes"
	noKeys        = "the history does not record the nodes' keys"
	keysUnseen    = "the watch of the nodes' keys has not reported enough"
	entriesUnseen = "the watch of the store's entries has not reported enough"
)

// notExercised returns the finding about a property that the history cannot violate.
func notExercised(v Verdict, why string) Finding {
	return because(v, Event{Role: RoleNotExercised, Text: why})
}

// unseen returns the finding about a property for which the history has too little.
func unseen(why string) Finding { return because(Unknown, Event{Role: RoleUnseen, Text: why}) }

// oneNode is the node of an event, if it has a number.
func oneNode(n int) []NodeTime { return listNodes(timeline.Node(n), nil) }

// listed lists a set of nodes, with when something happened to them.
func listNodes(s timeline.Nodes, when func(node int) history.Time) (list []NodeTime) {
	for rest := s; rest != 0; rest = rest.Without(rest.First()) {
		n := NodeTime{Node: rest.First()}
		if when != nil {
			n.At = when(n.Node)
		}
		list = append(list, n)
	}
	return list
}

// times says when something happened to nodes: of two nodes the time of each, in the order in
// which they are named, of more the first and the last. Times that are hardly apart are one.
func times(list []NodeTime) string {
	first, last := list[0].At, list[0].At
	for _, n := range list {
		first, last = min(first, n.At), max(last, n.At)
	}
	switch {
	case last.Sub(first) <= timeline.Noticeable:
		return "at " + at(last)
	case len(list) == 2:
		return fmt.Sprintf("at %s and %s", at(list[0].At), at(list[1].At))
	}
	return fmt.Sprintf("between %s and %s", at(first), at(last))
}

// setOf is the set of some nodes.
func setOf(list []NodeTime) (s timeline.Nodes) {
	for _, n := range list {
		s = s.With(n.Node)
	}
	return s
}

// at prints an instant for a person, to four digits or so.
func at(t history.Time) string { return textfmt.Instant(t) }

// short is as much of a token as a person compares.
func short(token string) string { return textfmt.Token(token) }

// quoted is as much of the name of a resource as a line has room for.
func quoted(resource string) string { return fmt.Sprintf("%q", textfmt.Name(resource)) }

// lockOf names a resource and a token.
func lockOf(resource, token string) string {
	return fmt.Sprintf("%s (token %s)", quoted(resource), short(token))
}

// clientOrSome names a client; 0: not known.
func clientOrSome(number int) string {
	if number == 0 {
		return "a client"
	}
	return fmt.Sprintf("client %d", number)
}

// counted prints a number of things.
func counted(n int, thing string) string {
	if n == 0 {
		return "no " + thing
	}
	return textfmt.Count(n, thing)
}

// Report is all that a [Checker] finds in one history.
type Report struct {
	Findings     []Finding    `json:"findings"` // one for each property that New was asked for, in the order of [Properties]
	Measurements Measurements `json:"measurements"`

	// Cut is why the history is incomplete, so that every property that is not
	// violated is unknown; empty if the history is complete.
	Cut string `json:"cut,omitempty"`

	// Untried lists the numbers of the faults after which no client began a try to acquire, or was granted
	// a lock, in order: also those that went on when the history ended.
	Untried []int `json:"-"`

	// UntilClock is the clock by which the history was judged: that of its header or, if it names none,
	// that which the events show.
	UntilClock history.UntilClock `json:"-"`
}

// Place is a part of a history: the events of one resource, or of all if none is
// named, from one instant to another, both included.
type Place struct {
	Resource string       `json:"resource,omitempty"` // left out: all
	Client   int          `json:"client,omitempty"`   // the client that it is about; left out: several or none
	From     history.Time `json:"from"`               // its first instant
	To       history.Time `json:"to"`                 // its last instant
}

// Pair is two grants that overlap. From and To are equal if the second grant ended before its call
// returned.
type Pair struct {
	First  Grant        `json:"first"`          // the holder's
	Second Grant        `json:"second"`         // the newcomer's
	From   history.Time `json:"from"`           // from when both were held
	To     history.Time `json:"to"`             // until when
	Open   bool         `json:"open,omitempty"` // the history ended before either hold did, at that instant
}

// Overlap returns how long both grants were held.
func (p *Pair) Overlap() time.Duration { return p.To.Sub(p.From) }

// Grant names one grant.
type Grant struct {
	Client   int           `json:"client"`   // who acquired the lock
	Resource string        `json:"resource"` // what is locked
	Token    string        `json:"token"`    // of the acquisition
	Call     history.Time  `json:"call"`     // when acquire was called
	Granted  history.Time  `json:"granted"`  // when it returned
	Validity time.Duration `json:"validity"` // what was left then, by the client's clock
}

// Finding returns what was found about a property.
func (r Report) Finding(p Property) Finding {
	for _, f := range r.Findings {
		if f.Property == p {
			return f
		}
	}
	return Finding{Property: p, Verdict: Unknown, Undecided: "it was not judged"}
}

// Verdicts returns the verdict of every property.
func (r Report) Verdicts() Verdicts {
	v := make(Verdicts, len(r.Findings))
	for _, f := range r.Findings {
		v[f.Property] = f.Verdict
	}
	return v
}

// Verdicts are the verdicts of one history, found or expected. In files they are a
// mapping of names to names, in JSON in the order of [Properties].
type Verdicts map[Property]Verdict

// MarshalJSON writes an object in the order of the properties.
func (v Verdicts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	written := 0
	for _, p := range Properties() {
		verdict, ok := v[p]
		if !ok {
			continue
		}
		if written > 0 {
			b.WriteByte(',')
		}
		written++
		value, err := json.Marshal(verdict)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", p, value)
	}
	if written < len(v) {
		return nil, fmt.Errorf("checker: a verdict of a property that there is not")
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
