package checker

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	Duty      Duty     `json:"duty,omitempty"`      // the part of the contract, or of deadlock freedom, that is violated
	Events    []Event  `json:"events,omitempty"`    // the violation, or what another verdict rests on, in the order of time
	Causes    []Cause  `json:"causes,omitempty"`    // the broken assumptions; if none is seen to be broken, one entry with the evidence alone
	Faultless bool     `json:"faultless,omitempty"` // no fault took place in the whole history
	Undecided string   `json:"undecided,omitempty"` // why the verdict is unknown whatever the events say: the history is cut short
	First     *Pair    `json:"first,omitempty"`     // the two grants of the violation, if it is about two
	Where     *Place   `json:"where,omitempty"`     // the part of the history to look at
}

// Cause is an assumption of the lock that was broken, with the evidence.
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

// Story returns the finding as one paragraph.
func (f Finding) Story() string {
	sentences := f.conclusions()
	if happened := f.happened(); len(happened) > 0 {
		sentences = append([]string{strings.Join(happened, "; ")}, sentences...)
	}
	return strings.Join(sentences, ". ")
}

// Lines returns the finding with a line for each event and each cause.
func (f Finding) Lines() []string { return append(f.happened(), f.conclusions()...) }

// happened returns the sentences of the events.
func (f Finding) happened() []string {
	lines := texts(f.Events)
	if f.Undecided == "" {
		return lines
	}
	if len(lines) > 0 {
		lines[0] = "up to there: " + lines[0]
	}
	return append([]string{f.Undecided}, lines...)
}

// conclusions returns a sentence for each cause.
func (f Finding) conclusions() (lines []string) {
	for _, c := range f.Causes {
		switch {
		case c.Assumption != "":
			lines = append(lines, fmt.Sprintf("Broken assumption: %s (%s)", c.Assumption.Text(), c.Shown()))
		case f.Faultless:
			lines = append(lines, "No fault took place: "+c.Shown())
		default:
			lines = append(lines, "The history shows no broken assumption: "+c.Shown())
		}
	}
	return lines
}

// Shown returns the sentences of the evidence.
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

// add counts a violation. It calls describe for the first only, because describing a violation
// takes longer than finding it. Inlined, descriptions would enlarge the frames of their callers, which run on
// the stacks of simulated clients: a stack is copied when it grows.
//
//go:noinline
func (b *violations) add(describe func() Finding) {
	if b.count++; b.count == 1 {
		b.first = describe()
	}
}

// violated returns the finding if there was a violation.
func (b *violations) violated() Finding {
	f := b.first
	f.Verdict, f.Count = Violated, b.count
	return f
}

// Event is one statement of a finding, as data and as a sentence. The checker that finds it writes the
// sentence. Programs print the sentence and read the other fields. A field that is left out does not
// apply or is not known.
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

// say sets the sentence.
func (e Event) say(format string, args ...any) Event {
	e.Text = fmt.Sprintf(format, args...)
	return e
}

// between sets the time of the event from the earlier to the later of two instants.
func (e Event) between(a, b history.Time) Event {
	e.From, e.To = min(a, b), max(a, b)
	return e
}

// because returns a finding with the events on which its verdict rests.
func because(v Verdict, events ...Event) Finding { return Finding{Verdict: v, Events: events} }

// Reasons for the verdicts not applicable and unknown that several properties share.
const (
	noBound       = "no bound is stated"
	keepsNothing  = "the lock keeps nothing on the nodes"
	noKeys        = "the history does not record the nodes' keys"
	keysLate      = "the history records the nodes' keys too late to tell"
	keysUnseen    = "the watch of the nodes' keys has not reported enough"
	entriesUnseen = "the watch of the store's entries has not reported enough"
)

// notExercised returns the finding about a property that the history cannot violate.
func notExercised(v Verdict, why string) Finding {
	return because(v, Event{Role: RoleNotExercised, Text: why})
}

// unseen returns the finding about a property for which the history records too little.
func unseen(why string) Finding { return because(Unknown, Event{Role: RoleUnseen, Text: why}) }

// oneNode lists the node of an event; no node if its number is 0.
func oneNode(n int) []NodeTime { return listNodes(timeline.Node(n), nil) }

// listNodes lists a set of nodes, each with the time that when returns; nil: without times.
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

// times prints the times of listed nodes: for two nodes both times, in the order of the list; for more,
// the first and the last. Times at most [timeline.Noticeable] apart are printed as one.
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

// setOf returns the set of the listed nodes.
func setOf(list []NodeTime) (s timeline.Nodes) {
	for _, n := range list {
		s = s.With(n.Node)
	}
	return s
}

// at prints an instant for a person, to four digits or so.
func at(t history.Time) string { return textfmt.Instant(t) }

// short cuts a token to the length that a person compares.
func short(token string) string { return textfmt.Token(token) }

// quoted quotes the name of a resource, cut to what fits in a line.
func quoted(resource string) string { return fmt.Sprintf("%q", textfmt.Name(resource)) }

// lockOf names a resource and a token.
func lockOf(resource, token string) string {
	return fmt.Sprintf("%s (token %s)", quoted(resource), short(token))
}

// clientOrSome names a client. Number 0 is an unknown client.
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

// Place is a part of a history: the events of one resource, or of all if none is named, between two
// instants, including both.
type Place struct {
	Resource string       `json:"resource,omitempty"` // left out: all
	Client   int          `json:"client,omitempty"`   // the client that it is about; left out: several or none
	From     history.Time `json:"from"`               // its first instant
	To       history.Time `json:"to"`                 // its last instant
}

// Pair is two grants that overlap. If the second ended before its call returned, From and To are equal.
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

// Property is a requirement on a lock, named as in files. Every history gets one verdict for each
// property. Each property is declared beside its checker.
type Property string

// String returns the property's name in files, as in "lease".
func (p Property) String() string { return string(p) }

// Verdict is the result for one property of one history.
type Verdict uint8

// The verdicts.
const (
	// Holds: the history shows no violation, and is complete enough to rule one out.
	Holds Verdict = iota + 1
	// Violated: the history shows a violation.
	Violated
	// Unknown: the history is incomplete, or the search took too long. It never counts as
	// a pass.
	Unknown
	// NotApplicable: the history has nothing that the property is about.
	NotApplicable
)

var verdictNames = [...]string{Holds: "holds", Violated: "violated", Unknown: "unknown", NotApplicable: "n/a"}

func (v Verdict) valid() bool { return v >= Holds && int(v) < len(verdictNames) }

func (v Verdict) String() string {
	if !v.valid() {
		return fmt.Sprintf("Verdict(%d)", uint8(v))
	}
	return verdictNames[v]
}

// MarshalText prints the verdict by name.
func (v Verdict) MarshalText() ([]byte, error) {
	if !v.valid() {
		return nil, fmt.Errorf("checker: no verdict %d", uint8(v))
	}
	return []byte(verdictNames[v]), nil
}

// UnmarshalText reads a verdict by name.
func (v *Verdict) UnmarshalText(text []byte) error {
	for c := Holds; c.valid(); c++ {
		if verdictNames[c] == string(text) {
			*v = c
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q: want holds, violated, unknown or n/a", text)
}

// propertyChecker judges one property.
type propertyChecker interface {
	// finding is called once, at the end. end is the instant of the last event.
	finding(end history.Time) Finding
}

// Duty is a part of the contract, or of deadlock freedom.
type Duty string

// Assumption is something a lock relies on. When a property is violated, the checker finds the
// broken assumption in the history: from the keys that nodes lost, if they are recorded, and
// otherwise from the faults.
type Assumption string

// The assumptions.
const (
	KeepsOrStaysAway  Assumption = "keeps-or-stays-away"
	KeepsUntilExpiry  Assumption = "keeps-until-expiry"
	KeepsAcknowledged Assumption = "keeps-acknowledged"
	ClockCounts       Assumption = "clock-counts"
	OneMaster         Assumption = "one-master"
	ClocksAgree       Assumption = "clocks-agree"
	ArrivesOnce       Assumption = "arrives-once"
	OnlyHolder        Assumption = "only-holder"
	LookAndSet        Assumption = "look-and-set"
	StopsInTime       Assumption = "stops-in-time"
	RefusesLate       Assumption = "refuses-late"
	WritesArrive      Assumption = "writes-arrive"
	Releases          Assumption = "releases"
	KeysExpire        Assumption = "keys-expire"
	DelaysDiffer      Assumption = "delays-differ"
	KeepersReached    Assumption = "keepers-reached"
	StoreAgrees       Assumption = "store-agrees"
	StoreKeeps        Assumption = "store-keeps"
)

// assumptions explains each: what it says, what breaks it, and what helps.
var assumptions = []struct {
	assumption             Assumption
	text, brokenBy, remedy string
}{
	{KeepsOrStaysAway, "a node that comes back keeps its keys, or stays away for the longest TTL",
		"a crash without persistence, or a node that is replaced by an empty one",
		"Keep every write on disk (appendonly with fsync always), delay each restart by the longest TTL, or let the lock ignore nodes that have just restarted (a quarantine)."},
	{KeepsUntilExpiry, "a node keeps a key until it expires",
		"eviction of keys when memory is short",
		"Set maxmemory-policy noeviction on nodes that keep locks."},
	{KeepsAcknowledged, "a node keeps what it has acknowledged",
		"power loss with fsync everysec, an old snapshot, a failover to a replica that lags, a restored machine",
		"Use fsync always, or delay restarts by the longest TTL; promote no replica."},
	{ClockCounts, "the clock that a lock reads counts all the time that passes",
		"suspend of the client machine, with a deadline on a clock that stands still meanwhile; a clock that runs slow",
		"Read the boot-time clock, and allow for drift."},
	{OneMaster, "a node has one master, and one key under a name",
		"two masters after a failover",
		"Keep locks on independent nodes, without automatic failover."},
	{ClocksAgree, "keys live for as long as their holder counts",
		"a clock of a node that jumps or runs fast, a clock of a client that runs slow",
		"Slew clocks, never step them, and choose a drift allowance that covers their rates."},
	{ArrivesOnce, "a request comes to its node once",
		"a proxy that sends a request twice",
		"Connect to the nodes directly; a key that is left behind ends with its TTL."},
	{OnlyHolder, "nobody but the holder touches its key",
		"a release or an extension that compares no token, clones that draw the same tokens",
		"Compare the token in the script that deletes or extends the key, and draw a random token for each grant."},
	{LookAndSet, "nothing comes between looking for a key and setting one",
		"a lock that looks for a key and sets it in two steps",
		"Use SET with NX to acquire. To extend a key, compare its token in the same script."},
	{StopsInTime, "a holder stops working when its validity is over",
		"a pause of the client, or work that goes on past the validity",
		"Check the validity before each effect, and let the resource check fencing tokens."},
	{RefusesLate, "the resource refuses who comes late",
		"a write that arrives after the validity has ended",
		"Let the resource check fencing tokens."},
	{WritesArrive, "a holder's writes have arrived when it lets go",
		"a release before a write has returned",
		"Wait for writes to return before releasing."},
	{Releases, "a holder lives until it releases",
		"the death of a client whose hold has no TTL",
		"Give every hold a TTL."},
	{KeysExpire, "keys that nobody deletes expire",
		"a clock of a node that stands still",
		"Watch the clocks of the nodes."},
	{DelaysDiffer, "clients that collide wait for different times before they try again",
		"clones that draw the same random delays",
		"Seed the delays from the kernel after a machine is cloned."},
	{KeepersReached, "a majority of the nodes that keep the lock's keys is in reach",
		"nodes that are down or out of reach, more than the lock can miss",
		"Keep the lock on more nodes."},
	{StoreAgrees, "the store keeps an entry for as long as its holder counts",
		"a clock of the leader of the store that runs fast, a clock of the holder that runs slow",
		"Choose a session timeout with a margin for drift."},
	{StoreKeeps, "the store keeps what it has acknowledged",
		"a leader without the last changes, or a loss of power of members that had not synced them",
		"Replicate before acknowledging, and sync."},
}

// Assumptions lists all of them.
func Assumptions() []Assumption {
	all := make([]Assumption, len(assumptions))
	for i, a := range assumptions {
		all[i] = a.assumption
	}
	return all
}

// Text returns what the assumption says, as a clause.
func (a Assumption) Text() string {
	text, _, _ := a.Explain()
	return text
}

// Explain returns the meaning of the assumption, what breaks it, and a remedy. docs/findings.md lists
// all assumptions.
func (a Assumption) Explain() (text, brokenBy, remedy string) {
	for _, known := range assumptions {
		if known.assumption == a {
			return known.text, known.brokenBy, known.remedy
		}
	}
	return string(a), "", ""
}

// Within returns the finding without its assumptions and remedies, but with their evidence. It is for a
// defect: the lock promises the property in spite of the events, so no broken assumption excuses it.
func (f Finding) Within() Finding {
	f.Causes = slices.Clone(f.Causes)
	for i := range f.Causes {
		f.Causes[i].Assumption = ""
	}
	return f
}

// Remedies returns a sentence for each broken assumption: what helps against it.
func (f Finding) Remedies() (all []string) {
	for _, c := range f.Causes {
		if _, _, remedy := c.Assumption.Explain(); remedy != "" && !slices.Contains(all, remedy) {
			all = append(all, remedy)
		}
	}
	return all
}
