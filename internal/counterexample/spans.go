package counterexample

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/follow"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// span is an annotation that lasted for a time, and its row.
type span struct {
	row      string
	text     string
	details  string
	colour   string
	from, to history.Time
	client   int          // that it is about; else 0
	kind     history.Kind // of the event that began it; else 0
}

// spans collects the annotations.
type spans struct {
	place    checker.Place
	world    nearby[span]
	lock     nearby[span] // calls, or keys
	accused  nearby[span] // those of the client of the finding
	work     nearby[span] // accesses to the guarded resource
	calls    bool         // show the lock's calls
	keys     bool         // show the lock's keys
	accesses bool         // show accesses to the guarded resource

	follower *follow.Follower
}

// The colours: of violations, faults, windows, pauses and calls.
const (
	red    = "#ff9c9c"
	orange = "#ffd8a8"
	green  = "#c9ecc9"
	yellow = "#fff3b0"
	grey   = "#e4e4e4"
	blue   = "#d0e4ff"
)

func newSpans(p checker.Place) *spans {
	s := &spans{
		place: p, world: newNearby[span](p, keptSpans), lock: newNearby[span](p, keptCalls),
		accused: newNearby[span](p, keptAccused), work: newNearby[span](p, keptWork),
	}
	s.follower = follow.New(s.show)
	return s
}

func (s *spans) keep(v span) {
	switch v.kind {
	case history.Acquire, history.Extend, history.Release, history.KeySet:
		if v.client == 0 || v.client != s.place.Client {
			s.lock.add(v, v.from, v.to)
			return
		}
		if s.isViolation(v) {
			v.colour = red
		}
		s.accused.add(v, v.from, v.to)
	case history.Read, history.Write, history.Apply:
		s.work.add(v, v.from, v.to)
	default:
		s.world.add(v, v.from, v.to)
	}
}

// isViolation reports whether a call or a key is the violation: a key that stayed, or else a
// call at the place.
func (s *spans) isViolation(v span) bool {
	if s.keys {
		return v.kind == history.KeySet && v.from <= s.place.From && v.to >= s.place.To
	}
	return v.from >= s.place.From && v.to <= s.place.To
}

// observe processes an event. concerns reports whether a resource is shown.
func (s *spans) observe(e *history.Event, concerns func(resource string) bool) {
	if isAnnotation(e.Kind) || s.wants(e.Kind) && e.Resource != "" && concerns(e.Resource) {
		s.follower.Observe(e)
	}
}

// isAnnotation reports whether the kind is about faults, clients, nodes or links.
func isAnnotation(k history.Kind) bool {
	switch k {
	case history.FaultStart, history.FaultEnd, history.Pause, history.Resume, history.Kill, history.Cancel,
		history.NodeDown, history.NodeUp, history.Leader, history.LinkDown, history.LinkUp:
		return true
	}
	return false
}

// wants reports whether the kind is about a call, a key or an access that is shown.
func (s *spans) wants(k history.Kind) bool {
	switch k {
	case history.Acquire, history.Granted, history.Refused, history.Extend, history.Extended, history.ExtendFailed, history.Release, history.Released:
		return s.calls
	case history.KeySet, history.KeyGone:
		return s.keys
	case history.Read, history.ReadDone, history.Write, history.WriteDone, history.Apply:
		return s.accesses
	}
	return false
}

// show makes an annotation of an interval.
func (s *spans) show(c *follow.Interval) {
	e := &c.Begin
	v := span{row: row(e), text: c.String(), colour: colours[e.Kind], from: c.From, to: c.To, kind: e.Kind}
	switch e.Kind {
	case history.FaultStart, history.NodeDown, history.Leader:
	default:
		v.client = e.Client
	}
	if s.wants(e.Kind) {
		v.details = "token " + e.Token
	}
	if c.Open {
		v.details = strings.TrimPrefix(v.details+"; it goes on", "; ")
	}
	s.keep(v)
}

// row names the row of an interval.
func row(e *history.Event) string {
	switch e.Kind {
	case history.FaultStart:
		return "faults"
	case history.NodeDown, history.Leader:
		return "nodes"
	case history.KeySet:
		return fmt.Sprintf("node %d keeps", e.Node)
	case history.Apply:
		return "guarded resource"
	}
	return fmt.Sprintf("client %d %s", e.Client, rows[e.Kind])
}

// rows are the rows of clients.
var rows = map[history.Kind]string{
	history.Pause: "state", history.Kill: "state", history.Cancel: "state", history.LinkDown: "is cut off",
	history.Acquire: "calls", history.Extend: "calls", history.Release: "calls",
	history.Read: "accesses", history.Write: "accesses",
}

var colours = map[history.Kind]string{
	history.FaultStart: orange, history.NodeDown: orange, history.LinkDown: orange,
	history.Pause: grey, history.Kill: grey, history.Cancel: grey, history.Leader: blue,
	history.Acquire: blue, history.Extend: blue, history.Release: blue, history.KeySet: blue,
	history.Read: blue, history.Write: blue, history.Apply: blue,
}

// windowSpans shows each client's windows by the rule of the picture and, if they differ, by
// the other rule.
func (e *excerpt) windowSpans(d *drawing) []span {
	own, other := rule{&e.leases, "lease", green}, rule{&e.sections, "section", yellow}
	if e.property == checker.Section {
		own, other = other, own
	}
	windows := own.all()
	var all []span
	for _, w := range windows {
		if w.Empty {
			continue
		}
		s := own.span(w, e.ending(w))
		if e.clashes(w) {
			s.colour = red
		}
		all = append(all, s)
	}
	for _, w := range other.all() {
		if w.Empty {
			continue
		}
		if slices.ContainsFunc(windows, func(v checker.Window) bool { return sameGrant(v.Grant, w.Grant) && v.From == w.From && v.To == w.To }) {
			d.legend = fmt.Sprintf(" Where a hold has no %s row, its %s lasts as long as its %s.", other.name, other.name, own.name)
			continue
		}
		all = append(all, other.span(w, e.ending(w)))
	}
	return all
}

// rule is one of the two rules for windows.
type rule struct {
	*nearby[checker.Window]
	name   string
	colour string
}

func (r rule) span(w checker.Window, ending string) span {
	g := w.Grant
	return span{
		row:  fmt.Sprintf("client %d %s", g.Client, r.name),
		text: fmt.Sprintf("%s by %s until %s", quoted(g.Resource), textfmt.Token(g.Token), ending), colour: r.colour, from: w.From, to: w.To,
		client: g.Client, details: fmt.Sprintf("client %d may believe that it holds %q, token %s", g.Client, g.Resource, g.Token),
	}
}

// ending says what ended the window.
func (e *excerpt) ending(w checker.Window) string {
	if w.By == 0 && e.stopped {
		return "later"
	}
	return w.Ending()
}
