package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// Contradiction is an event that cannot be true, whatever comes after it: a history that
// has one tells of no run. It is an error in words for a person, which names the client
// and the token.
type Contradiction struct {
	Event int    // its ordinal, from 1, among all that were recorded: it is on the line after
	What  string // it says, and why that cannot be

	// TooMuch: it can be true, but there is more at a time than is judged. What comes
	// behind it is not looked at, and what is not violated up to there is unknown.
	TooMuch bool
}

func (c *Contradiction) Error() string { return c.What }

// Err returns the first contradiction of the history, as a *[Contradiction], or nil. An
// event can be missed only when its instant is over, so that what Err says of the last
// instant is certain after Finish.
//
// The panel goes on all the same and judges what is left.
func (p *Checker) Err() error {
	if first := p.state.docket.first; first != nil {
		return first
	}
	return nil
}

// contradictions numbers the events, and keeps the first of those that contradict others.
type contradictions struct {
	event int // the ordinal of the one that is being taken
	first *Contradiction
	full  bool // nothing more is judged
}

func (d *contradictions) contradict(what string) {
	if d.first == nil || d.event < d.first.Event {
		d.first = &Contradiction{Event: d.event, What: what}
	}
}

// refuse says that the history says too much at a time to be judged any further.
func (l *state) refuse(format string, args ...any) {
	l.docket.full = true
	if l.docket.first == nil {
		l.docket.first = &Contradiction{Event: l.docket.event, What: fmt.Sprintf(format, args...), TooMuch: true}
	}
}

// contradict says that the event cannot be true. It returns true, for those who take it all
// the same.
func (l *state) contradict(format string, args ...any) bool {
	l.docket.contradict(fmt.Sprintf(format, args...))
	return true
}

// What a history can say at a time. Nobody has so much, and who makes a history up shall
// not fill the memory with it.
const (
	maxHolds     = 1 << 18 // tries and holds that are not over
	maxResources = 1 << 18
	maxLate      = 1 << 12 // events of one instant that wait for others
	maxInstant   = 1 << 18 // events of one instant
	maxChanges   = 1 << 18 // changes of holds' keys in one instant: several holds may have one token
)

// crowded objects to a history that says too much at a time: it is asked where there comes
// to be more.
func (l *state) crowded() {
	switch {
	case l.places > maxHolds:
		l.refuse("more than %d tries and holds are under way at a time", maxHolds)
	case len(l.resources) > maxResources:
		l.refuse("more than %d resources are locked", maxResources)
	case len(l.changes) > maxChanges:
		l.refuse("more than %d changes of holds' keys at one instant", maxChanges)
	}
}

// acts are the kinds of events that only a living client brings about. Of a dead one its
// requests, and the writes that are on their way, can still arrive.
var acts = kindSet(history.Acquire, history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed,
	history.Expiring, history.Lost, history.Release, history.Released,
	history.Read, history.ReadDone, history.Write, history.WriteDone, history.Check, history.Checked, history.Kill, history.Step)

// posthumous reports whether the event is an act of a client that died before.
func (f *fact) posthumous() bool {
	return f.client.dead && f.client.died != f.Time && acts.has(f.Kind)
}

// single are the kinds of events of which two that are alike in all, and in their
// instant, are one that was recorded twice. Calls, returns and writes that are applied
// are told by what is under way. A key can be set, and extended, by two requests that
// arrive at once; a clock can come to an end that was promised twice, and a client to a
// step: a second line of those changes nothing.
var single = kindSet(history.Expiring, history.Lost, history.Cancel, history.Pause, history.Resume, history.Kill,
	history.NodeDown, history.NodeUp, history.LinkDown, history.LinkUp, history.FaultStart, history.FaultEnd,
	history.Leader, history.EntryGone)

// maxTold bounds the events of an instant, and the calls of a client in it, that are
// compared with those that follow.
const maxTold = 64

// checkRepeated objects to an event that has been recorded before.
func (p *Checker) checkRepeated(e *history.Event) {
	for i := range p.told {
		if p.told[i] == *e {
			p.state.contradict("the same is said twice: %s", naming(e))
			return
		}
	}
	if len(p.told) < maxTold {
		p.told = append(p.told, *e)
	}
}

// naming says what an event is of, as in "lost, client 1, "stock", token 4f0c0a11".
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
		text += fmt.Sprintf(", %q, token %s", e.Resource, short(e.Token))
	}
	return text
}

// lock names the resource and the token of the event.
func (f *fact) lock() string {
	return fmt.Sprintf("%q under token %s", f.Resource, short(f.Token))
}

// twice objects to a call that is made while the same call is open, which began at the
// same instant. One that began before may have been given up, and made again.
func (l *state) twice(f *fact, verb string) bool {
	return l.contradict("client %d calls %s of %s twice at %s", f.Client, verb, f.lock(), at(f.Time))
}

// uncalled objects to a return without a call, unless the ledger has let such a call go
// before it returned.
func (l *state) uncalled(f *fact, verb string, adrift *int) bool {
	if *adrift > 0 {
		*adrift--
		return true
	}
	return l.contradict("%s of %s returns to client %d, which has none under way", verb, f.lock(), f.Client)
}

// unasked objects to the return of a try that is not under way.
func (l *state) unasked(f *fact, what string) bool {
	if f.client.adrift.tries > 0 {
		f.client.adrift.tries--
		return true
	}
	why := "it has not asked for it, or was answered before"
	if f.client.find(f.Event, atAnyStage) != nil {
		why = "its try has returned before"
	}
	return l.contradict("client %d is %s %q with token %s, but %s", f.Client, what, f.Resource, short(f.Token), why)
}

// adrift is how many calls of a client may still return though nothing is known of them
// any more: the hold, or the section, was over before they did.
type adrift struct{ tries, extensions, releases, reads int }

// strand counts the calls that are under way for a hold that is let go.
func (c *client) strand(h *hold) {
	if h.acquire.open {
		c.adrift.tries++
	}
	if h.extend.open {
		c.adrift.extensions++
	}
	c.adrift.releases += len(h.inner)
}
