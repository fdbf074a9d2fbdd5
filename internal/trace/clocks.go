package trace

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// minClockChange is the smallest change of a clock, compared with its last shown value, that is
// shown.
const minClockChange = time.Millisecond

// clocks tracks how far each clock is ahead of the ground clock: the clock that a client's
// lock reads, and the clock by which a node's keys expire.
type clocks struct {
	of      runner.ClockReader // nil: nobody shows them
	lock    env.Clock
	clients []clockOffset
	nodes   []clockOffset
}

// clockOffset is how far a clock was ahead: at first, and when it was last shown.
type clockOffset struct{ first, told time.Duration }

func (c *clocks) open(h history.Header, of runner.ClockReader) {
	c.of = of
	if of == nil {
		return
	}
	c.clients, c.nodes = make([]clockOffset, h.Clients), make([]clockOffset, h.Nodes)
	for i := range c.clients {
		c.clients[i].first = c.client(i + 1)
	}
	for i := range c.nodes {
		c.nodes[i].first = c.node(i + 1)
	}
}

func (c *clocks) client(n int) time.Duration {
	return time.Duration(c.of.ClientClock(n, c.lock)) - time.Duration(c.of.Ground())
}

func (c *clocks) node(n int) time.Duration {
	return time.Duration(c.of.NodeClock(n)) - time.Duration(c.of.Ground())
}

// ClockIs says that a clock has changed against the ground clock.
type ClockIs struct {
	Whose string // the name of the client or node
	Clock string // which of its clocks
	Ahead time.Duration
}

func (c ClockIs) tell(*describer) (string, string) {
	way, by := "ahead of", c.Ahead
	switch {
	case by == 0:
		return c.Whose, fmt.Sprintf("its %s clock is right again", c.Clock)
	case by < 0:
		way, by = "behind", -by
	}
	return c.Whose, fmt.Sprintf("its %s clock is %s %s the ground clock", c.Clock, textfmt.Duration(by), way)
}

// look reports the clocks that have changed: all of them after an event that can change
// clocks, and those that the new event depends on.
func (c *clocks) look(before, now *history.Event, tell func(ClockIs)) {
	if c.of == nil {
		return
	}
	all := changesClocks[before.Kind]
	for i := range c.clients {
		if all || readsClock[now.Kind] && now.Client == i+1 {
			c.clients[i].look(c.client(i+1), clientName(i+1), c.lock.String(), tell)
		}
	}
	for i := range c.nodes {
		if all || now.Node == i+1 {
			c.nodes[i].look(c.node(i+1), nodeName(i+1), env.Wall.String(), tell)
		}
	}
}

// changesClocks are the events after which any clock may be another, readsClock those at
// which it matters what the client's clock shows.
var (
	changesClocks = map[history.Kind]bool{history.FaultStart: true, history.FaultEnd: true, history.Resume: true}
	readsClock    = map[history.Kind]bool{history.Acquire: true, history.Granted: true, history.Extend: true, history.Extended: true, history.Lapse: true, history.Release: true}
)

func (a *clockOffset) look(now time.Duration, who, name string, tell func(ClockIs)) {
	now -= a.first
	if (now - a.told).Abs() < minClockChange {
		return
	}
	a.told = now
	tell(ClockIs{who, name, now})
}

// windows are the windows of all holds, as the checker of exclusion sees them.
type windows []timeline.Window

// Windows returns the windows of all holds in the order of their begins, as the checker of
// lease or section exclusion sees them.
func (t *Trace) Windows(p checker.Property) (all []timeline.Window) {
	line, of := timeline.New(t.header), timeline.LeaseWindow
	if p == checker.Section {
		of = timeline.SectionWindow
	}
	line.Windows(of, func(w timeline.Window) { all = append(all, w) })
	for _, r := range t.records {
		if h, is := r.what.(Happened); is {
			line.Record(h.Event)
		}
	}
	line.Close()
	slices.SortStableFunc(all, func(a, b timeline.Window) int { return cmp.Compare(a.From, b.From) })
	return all
}

// of describes the window that a grant begins.
func (w windows) of(e *history.Event) string {
	for _, one := range w {
		switch {
		case one.Grant.Token != e.Token || one.From != e.Time || one.Grant.Client != e.Client:
		case one.Empty && !one.Late:
			return "; its window is over already"
		case one.By == 0:
			return "; its window never ends"
		default:
			return fmt.Sprintf("; its window ends at %s (%v)", inMs(one.To), one.By)
		}
	}
	return ""
}

// overlap is two windows of a resource that share time. If it is late, the first is an
// extension, and the second lies between the end of the hold and the extension.
type overlap struct {
	first, second timeline.Window
	from, to      history.Time
	late          bool
}

// overlaps returns the windows that share time: each non-empty window with those that
// begin before it ends, and each late one with the window in between.
func (w windows) overlaps() (list []overlap) {
	for i, a := range w {
		if b, is := w.between(a); is {
			list = append(list, overlap{a, b, max(a.Over, b.From), b.To, true})
		}
		for _, b := range w[i+1:] {
			if b.From >= a.To {
				break
			}
			if !a.Empty && !b.Empty && a.Grant.Resource == b.Grant.Resource {
				list = append(list, overlap{a, b, b.From, min(a.To, b.To), false})
			}
		}
	}
	return list
}

// between returns the window that ended last while the hold of a late window was over.
func (w windows) between(late timeline.Window) (last timeline.Window, is bool) {
	for _, v := range w {
		if late.Late && !v.Empty && v.Grant.Resource == late.Grant.Resource && v.To > late.Over && (v.To <= late.From || late.Empty && v.From < late.From) && v.To > last.To {
			last, is = v, true
		}
	}
	return last, is
}

// shows reports whether the line is the event that causes the overlap.
func (o overlap) shows(l Line) bool {
	h, is := l.Entry.(Happened)
	came, at := o.second, o.from
	if o.late {
		came, at = o.first, o.first.From
	}
	return is && h.Time == at && h.Token == came.Grant.Token && (h.Kind == history.Granted || h.Kind == history.Extended)
}

func (o overlap) words(title string) string {
	if o.late {
		return fmt.Sprintf("%s is broken: %s goes on holding %q, which was over at %s, and %s held it to %s",
			title, clientName(o.first.Grant.Client), o.first.Grant.Resource, inMs(o.first.Over), clientName(o.second.Grant.Client), inMs(o.to))
	}
	return fmt.Sprintf("%s is broken: %s and %s both hold %q, to %s",
		title, clientName(o.first.Grant.Client), clientName(o.second.Grant.Client), o.second.Grant.Resource, inMs(o.to))
}
