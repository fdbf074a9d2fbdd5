package timeline

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/follow"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Run is what is known of a run.
type Run struct {
	// Open opens the history, plain, from its begin. It is read twice.
	Open func() (io.ReadCloser, error)

	// Report is what the judges have found in it.
	Report checker.Report

	// Scenario is what was run, with the plan that was carried out. Nil: nobody knows, and
	// no clocks are shown.
	Scenario *scenarios.Scenario
}

// Read makes the model of a run. A history that cannot be read to its end is shown as far
// as it can, and the model says so; one without a header is an error.
func Read(run Run) (Model, error) {
	shown, err := run.survey()
	if err != nil {
		return Model{}, err
	}
	var r *reading
	if err := follow.Read(run.Open, func(h history.Header) { r = newReading(run, h, shown) }, func(e *history.Event) bool { return r.record(e) }); err != nil && r == nil {
		return Model{}, err
	}
	r.finish()
	return r.model(), nil
}

// reading gathers what is shown of a history as it is read.
type reading struct {
	run    Run
	header history.Header
	shown  excerpt
	count  int          // of events, up to now
	now    history.Time // of the last

	panel    *checker.Checker
	follower *follow.Follower
	clocks   *clocks // nil: none are shown

	rows             rows
	leases, sections []checker.Window
	waits            []checker.Wait
	outages          []checker.Outage
	shades           []shade
	whom             map[int]*whom // by fault: who was hit, as events tell
	latencies        []Sample
	leaderless       history.Time // since when the store has no leader; -1: it has one
	dead             map[int]bool // clients
	resource         string       // that was locked last
	several          bool         // others were, too
}

func newReading(run Run, h history.Header, shown excerpt) *reading {
	r := &reading{
		run: run, header: h, shown: shown, rows: rows{}, whom: map[int]*whom{},
		leaderless: -1, dead: map[int]bool{},
	}
	r.panel = checker.New(h, checker.Lease, checker.Section)
	r.panel.Windows(checker.Lease, func(w checker.Window) { r.window(&r.leases, w) })
	r.panel.Windows(checker.Section, func(w checker.Window) { r.window(&r.sections, w) })
	r.panel.Demand(r.wait, r.outage)
	r.follower = follow.New(r.course)
	if run.Scenario != nil {
		r.clocks = newClocks(run.Scenario, h)
	}
	return r
}

// record takes the next event, and reports whether more are wanted.
func (r *reading) record(e *history.Event) bool {
	if r.count == r.shown.last {
		return false
	}
	r.count++
	r.now = e.Time
	if r.count == r.shown.first {
		r.shown.from = e.Time
	}
	r.panel.Record(e)
	switch e.Kind {
	case history.Step:
		r.reply(e)
		return true
	case history.End:
		return true
	case history.FaultStart, history.FaultEnd:
		if r.clocks != nil {
			r.clocks.fault(e)
		}
	case history.Acquire:
		r.several = r.several || r.resource != "" && r.resource != e.Resource
		r.resource = e.Resource
	}
	r.hit(e)
	r.follower.Observe(e)
	return true
}

func (r *reading) finish() {
	r.shown.to = r.now
	r.panel.Finish()
	r.follower.Finish(r.now)
	if r.leaderless >= 0 {
		r.rows.add(lane{Store, 0}, Span{From: r.leaderless, To: r.now, State: Down, Text: "no leader", Open: true}, owner{})
	}
	if r.clocks != nil {
		r.clocks.finish(r.now)
	}
}

// shows reports whether something of a time is shown.
func (r *reading) shows(to history.Time) bool { return r.count >= r.shown.first && to >= r.shown.from }

func (r *reading) window(of *[]checker.Window, w checker.Window) {
	if r.shows(w.To) {
		*of = append(*of, w)
	}
}

func (r *reading) wait(w checker.Wait) {
	if r.shows(w.To) {
		r.waits = append(r.waits, w)
	}
}

func (r *reading) outage(o checker.Outage) {
	if r.shows(o.To) && o.To > o.From {
		r.outages = append(r.outages, o)
	}
}

// states are what the courses of a client are shown as.
var states = map[history.Kind]State{
	history.Extend: Extends, history.Release: Releases, history.Read: Access, history.Write: Access,
	history.Pause: Paused, history.LinkDown: Cut,
}

// course takes what went on into its lane.
func (r *reading) course(c *follow.Interval) {
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
		r.shades = append(r.shades, shade{number: c.Begin.Fault, name: c.Label(), from: c.From, to: c.To, open: c.Open})
	case history.Acquire:
		if !c.Open {
			r.latencies = append(r.latencies, Sample{At: c.To, Value: float64(c.To - c.From), Bad: c.End.Kind != history.Granted})
		}
	case history.NodeDown, history.KeySet, history.KeyExtended:
		r.node(c)
	case history.Leader:
		r.mark(lane{Store, 0}, c, c.Label())
	case history.EntryGone:
		r.mark(lane{Store, 0}, c, "entry gone: "+c.Begin.Reason)
	case history.Apply:
		r.mark(lane{Guarded, 0}, c, c.Label()+fenced(&c.Begin))
	case history.Cancel, history.Expiring, history.Lost, history.Lapse:
		r.mark(lane{Clients, c.Begin.Client}, c, c.Begin.Reason)
	default:
		r.client(c)
	}
}

// client takes what a client did, or what was done to it.
func (r *reading) client(c *follow.Interval) {
	state, is := states[c.Begin.Kind]
	if !is {
		return
	}
	text := c.String()
	switch state {
	case Extends, Releases:
		text = c.Ending()
	case Paused:
		text = ""
	}
	r.span(lane{Clients, c.Begin.Client}, state, c, text)
	if c.End.Outcome == history.Declined && state == Access {
		text := fmt.Sprintf("refuses a %s of client %d%s", strings.Fields(c.Label())[0], c.Begin.Client, fenced(&c.End))
		r.rows.mark(lane{Guarded, 0}, Mark{At: c.To, Kind: c.End.Kind.String(), Text: text}, of(&c.Begin))
	}
}

// die begins what does not end.
func (r *reading) die(c *follow.Interval) {
	n := c.Begin.Client
	if r.dead[n] {
		return
	}
	r.dead[n] = true
	r.rows.add(lane{Clients, n}, Span{From: c.From, To: r.shown.end, State: Dead, Open: true}, owner{})
	r.mark(lane{Clients, n}, c, "")
}

// lead follows whether the store has a leader.
func (r *reading) lead(c *follow.Interval) {
	if r.leaderless >= 0 && r.shows(c.From) {
		r.rows.add(lane{Store, 0}, Span{From: r.leaderless, To: c.From, State: Down, Text: "no leader"}, owner{})
	}
	r.leaderless = -1
	if c.Begin.Node == 0 {
		r.leaderless = c.From
	}
}

func (r *reading) node(c *follow.Interval) {
	l := lane{Nodes, c.Begin.Node}
	switch c.Begin.Kind {
	case history.NodeDown:
		r.span(l, Down, c, c.Ending())
		r.rows.mark(l, Mark{At: c.From, Kind: c.Begin.Kind.String(), Text: "down"}, owner{})
		if !c.Open {
			r.rows.mark(l, Mark{At: c.To, Kind: c.End.Kind.String(), Text: c.Ending()}, owner{})
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

func (r *reading) span(l lane, state State, c *follow.Interval, text string) {
	r.rows.add(l, Span{From: c.From, To: c.To, State: state, Text: text, Open: c.Open}, of(&c.Begin))
}

func (r *reading) mark(l lane, c *follow.Interval, text string) {
	r.rows.mark(l, Mark{At: c.From, Kind: c.Begin.Kind.String(), Text: text}, of(&c.Begin))
}

func of(e *history.Event) owner { return owner{e.Client, e.Resource, e.Token} }

func fenced(e *history.Event) string {
	if e.Fence == 0 {
		return ""
	}
	return fmt.Sprintf(", fence %d", e.Fence)
}

// What is shown at most: more is slow to look at, and nobody finds his way in it.
const (
	MostEvents   = 100_000 // of a history
	MostAccesses = 10_000  // to the guarded resource
	MostClients  = 100     // with a lane of their own
	mostSamples  = 4_000   // of a clock
)

// excerpt is the part of a history that is shown.
type excerpt struct {
	first, last int // of its events, from 1
	all         int // that the history has
	end         history.Time

	from, to history.Time // the time of the first and the last
	broken   error        // why the history cannot be read to its end
}

// survey reads the history to see how much of it can be shown: all, or the events around
// the first violation or, if there is none, from the begin on.
func (run Run) survey() (excerpt, error) {
	var x excerpt
	look, before := run.firstViolation(), 0
	opened := false
	err := follow.Read(run.Open, func(history.Header) { opened = true }, func(e *history.Event) bool {
		x.all++
		x.end = e.Time
		if look != nil && e.Time < look.From {
			before++
		}
		return true
	})
	if !opened {
		return x, err
	}
	x.broken = err
	x.first = max(1, min(before-MostEvents/2, x.all-MostEvents)+1)
	x.last = min(x.all, x.first+MostEvents-1)
	return x, nil
}

func (run Run) firstViolation() (first *checker.Place) {
	for _, f := range run.Report.Findings {
		if w := f.Where; f.Verdict == checker.Violated && w != nil && (first == nil || w.From < first.From) {
			first = w
		}
	}
	return first
}

// omitted says what of the history is not shown.
func (x *excerpt) omitted() []string {
	var all []string
	if shown := x.last - x.first + 1; shown < x.all {
		all = append(all, fmt.Sprintf("Of %s events %s are shown, from %v to %v.", textfmt.Grouped(x.all), textfmt.Grouped(shown), x.from, x.to))
	}
	if x.broken != nil {
		all = append(all, fmt.Sprintf("The history cannot be read further: %v.", x.broken))
	}
	return all
}
