package timeline

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Contradiction is an event that cannot have happened after those before it. A history with
// one describes no run. What names the client and the token.
type Contradiction struct {
	Event int    // its number, from 1; in a file it is on the next line
	What  string // what it says, and why that cannot be

	// TooMuch: the event is possible, but more is under way at a time than the timeline
	// follows. It ignores what comes after it.
	TooMuch bool
}

// docket numbers the events and keeps the first contradiction.
type docket struct {
	event int // the number of the present one
	first *Contradiction
	full  bool // nothing more is judged
}

func (d *docket) contradict(what string) {
	if d.first == nil || d.event < d.first.Event {
		d.first = &Contradiction{Event: d.event, What: what}
	}
}

// Contradiction returns the first event that contradicts the history, or nil. About the last instant that is
// certain only after Close. The timeline goes on after a contradiction, unless too much is under way.
func (t *Timeline) Contradiction() *Contradiction { return t.docket.first }

// Full reports whether too much is under way at a time: the timeline ignores what follows.
func (t *Timeline) Full() bool { return t.docket.full }

// refuse notes that too much is under way at a time for the history to be judged further.
func (t *Timeline) refuse(format string, args ...any) {
	t.docket.full = true
	if t.docket.first == nil {
		t.docket.first = &Contradiction{Event: t.docket.event, What: fmt.Sprintf(format, args...), TooMuch: true}
	}
}

// contradict notes a contradiction. It returns true, for callers that go on with the event.
func (t *Timeline) contradict(format string, args ...any) bool {
	t.docket.contradict(fmt.Sprintf(format, args...))
	return true
}

// Bounds of what can be under way at a time. Real histories stay far below them; made-up ones
// must not fill the memory.
const (
	maxHolds     = 1 << 18 // tries and holds that are not over
	maxResources = 1 << 18
	maxDeferred  = 1 << 12 // events of one instant that wait for others
	maxInstant   = 1 << 18 // events of one instant
	maxChanges   = 1 << 18 // changes of holds' keys in one instant: several holds may have one token
)

// crowded refuses a history that exceeds a bound. It is called where the figures grow.
func (t *Timeline) crowded() {
	switch {
	case t.Places > maxHolds:
		t.refuse("more than %d tries and holds are under way at a time", maxHolds)
	case len(t.resources) > maxResources:
		t.refuse("more than %d resources are locked", maxResources)
	case len(t.Changes) > maxChanges:
		t.refuse("more than %d changes of holds' keys at one instant", maxChanges)
	}
}

// single are the kinds of events that cannot happen twice in one instant with the same
// fields. Repeated calls, returns and applied writes are found by what is under way, and a link that
// is up twice by its state: it can come up again after a fault that ends in the instant in which it
// begins. Keys can be set or extended by two requests at once, the entries of clones have the same
// token, a clock can reach an end that was declared twice, and a client a step; repeating those
// changes nothing.
var single = KindSet(history.Expiring, history.Lost, history.Cancel, history.Pause, history.Resume, history.Kill,
	history.NodeDown, history.NodeUp, history.LinkDown, history.FaultStart, history.FaultEnd,
	history.Leader, history.EntryGone)

// maxTold bounds the events of an instant, and the calls of a client in it, that later ones
// are compared with.
const maxTold = 64

// checkRepeated reports an event that was recorded before.
func (t *Timeline) checkRepeated(e *history.Event) {
	for i := range t.singles {
		if t.singles[i] == *e {
			t.contradict("the same is said twice: %s", naming(e))
			return
		}
	}
	if len(t.singles) < maxTold {
		t.singles = append(t.singles, *e)
	}
}

// naming names an event, as in "lost, client 1, "stock", token 4f0c0a11".
func naming(e *history.Event) string {
	text := e.Kind.String()
	for _, n := range []struct {
		name   string
		number int
	}{{"client", e.Client}, {"node", e.Node}, {"fault", e.Fault}} {
		if n.number != 0 {
			text += fmt.Sprintf(", %s %d", n.name, n.number)
		}
	}
	if e.Token != "" {
		text += fmt.Sprintf(", %q, token %s", textfmt.Name(e.Resource), textfmt.Token(e.Token))
	}
	return text
}
