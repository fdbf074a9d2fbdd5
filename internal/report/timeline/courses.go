package timeline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/follow"
)

// states are what the courses of a client are shown as.
var states = map[history.Kind]State{
	history.Extend: Extends, history.Release: Releases, history.Read: Access, history.Write: Access,
	history.Pause: Paused, history.LinkDown: Cut,
}

// course takes what went on into its lane.
func (r *reading) course(c *follow.Course) {
	switch c.Begin.Kind { // what matters whenever it was
	case history.Kill:
		r.die(c)
	case history.Leader:
		r.lead(c)
	}
	if !r.shows(c.To) {
		return
	}
	switch c.Begin.Kind {
	case history.FaultStart:
		r.shades = append(r.shades, shade{number: c.Begin.Fault, name: c.What(), from: c.From, to: c.To, open: c.Open})
	case history.Acquire:
		if !c.Open {
			r.latencies = append(r.latencies, Sample{At: c.To, Value: float64(c.To - c.From), Bad: c.End.Kind != history.Granted})
		}
	case history.NodeDown, history.KeySet, history.KeyExtended:
		r.node(c)
	case history.Leader:
		r.mark(lane{Store, 0}, c, c.What())
	case history.EntryGone:
		r.mark(lane{Store, 0}, c, "entry gone: "+c.Begin.Reason)
	case history.Apply:
		r.mark(lane{Guarded, 0}, c, c.What()+fenced(&c.Begin))
	case history.Cancel, history.Expiring, history.Lost, history.Lapse:
		r.mark(lane{Clients, c.Begin.Client}, c, c.Begin.Reason)
	default:
		r.client(c)
	}
}

// client takes what a client did, or what was done to it.
func (r *reading) client(c *follow.Course) {
	state, is := states[c.Begin.Kind]
	if !is {
		return
	}
	text := c.String()
	switch state {
	case Extends, Releases:
		text = c.How()
	case Paused:
		text = ""
	}
	r.span(lane{Clients, c.Begin.Client}, state, c, text)
	if c.End.Outcome == history.Declined && state == Access {
		text := fmt.Sprintf("refuses a %s of client %d%s", strings.Fields(c.What())[0], c.Begin.Client, fenced(&c.End))
		r.rows.mark(lane{Guarded, 0}, Mark{At: c.To, Kind: c.End.Kind.String(), Text: text}, of(&c.Begin))
	}
}

// die begins what does not end.
func (r *reading) die(c *follow.Course) {
	n := c.Begin.Client
	if r.dead[n] {
		return
	}
	r.dead[n] = true
	r.rows.add(lane{Clients, n}, Span{From: c.From, To: r.shown.end, State: Dead, Open: true}, owner{})
	r.mark(lane{Clients, n}, c, "")
}

// lead follows whether the store has a leader.
func (r *reading) lead(c *follow.Course) {
	if r.leaderless >= 0 && r.shows(c.From) {
		r.rows.add(lane{Store, 0}, Span{From: r.leaderless, To: c.From, State: Down, Text: "no leader"}, owner{})
	}
	r.leaderless = -1
	if c.Begin.Node == 0 {
		r.leaderless = c.From
	}
}

func (r *reading) node(c *follow.Course) {
	l := lane{Nodes, c.Begin.Node}
	switch c.Begin.Kind {
	case history.NodeDown:
		r.span(l, Down, c, c.How())
		r.rows.mark(l, Mark{At: c.From, Kind: c.Begin.Kind.String(), Text: "down"}, owner{})
		if !c.Open {
			r.rows.mark(l, Mark{At: c.To, Kind: c.End.Kind.String(), Text: c.How()}, owner{})
		}
	case history.KeySet:
		r.span(l, Key, c, c.String())
	case history.KeyExtended:
		r.mark(l, c, fmt.Sprintf("keeps it until another time, by client %d", c.Begin.Client))
	}
}

// answers are what nodes say to clients.
var answers = map[history.Outcome]string{history.OK: "agrees", history.Declined: "declines", history.Unknown: "does not answer"}

// reply marks what a node has answered, where nobody has recorded what keys it keeps.
func (r *reading) reply(e *history.Event) {
	if r.header.Keys || e.Node == 0 || e.Name != env.StepReply.String() || !r.shows(e.Time) {
		return
	}
	what := cmp.Or(answers[e.Outcome], "answers")
	r.rows.mark(lane{Nodes, e.Node}, Mark{At: e.Time, Kind: e.Name, Text: fmt.Sprintf("%s, says client %d", what, e.Client)}, of(e))
}

func (r *reading) span(l lane, state State, c *follow.Course, text string) {
	r.rows.add(l, Span{From: c.From, To: c.To, State: state, Text: text, Open: c.Open}, of(&c.Begin))
}

func (r *reading) mark(l lane, c *follow.Course, text string) {
	r.rows.mark(l, Mark{At: c.From, Kind: c.Begin.Kind.String(), Text: text}, of(&c.Begin))
}

func of(e *history.Event) owner { return owner{e.Client, e.Resource, e.Token} }

func fenced(e *history.Event) string {
	if e.Fence == 0 {
		return ""
	}
	return fmt.Sprintf(", fence %d", e.Fence)
}
