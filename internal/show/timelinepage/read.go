package timelinepage

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// builder collects what a timeline shows while the history is read.
type builder struct {
	run    Run
	header history.Header
	shown  eventRange
	count  int          // events read so far
	now    history.Time // of the last event

	checker *checker.Checker // of the timeline, for its waits and outages
	clocks  *clocks          // nil: no clocks are shown

	lanes     laneBuilders
	holds     timeline.Holds
	waits     []checker.Wait
	outages   []checker.Outage
	shades    []Shade
	affected  map[int]map[laneKey]bool // by fault: the lanes of clients and nodes
	latencies []Sample
	resource  string // the last one that a client tried to lock
	several   bool   // clients locked different resources
}

func newBuilder(run Run, h history.Header, shown eventRange) *builder {
	h.UntilClock = cmp.Or(h.UntilClock, run.Report.UntilClock)
	b := &builder{run: run, header: h, shown: shown, lanes: laneBuilders{}, affected: map[int]map[laneKey]bool{}}
	line := timeline.New(h)
	b.holds = line.Holds(func(w timeline.Window) bool { return b.shows(w.To) })
	line.Intervals(b.interval)
	b.checker = checker.Of(line, checker.Lease)
	b.checker.Demand(func(w checker.Wait) {
		if b.shows(w.To) {
			b.waits = append(b.waits, w)
		}
	}, func(o checker.Outage) {
		if b.shows(o.To) && o.To > o.From {
			b.outages = append(b.outages, o)
		}
	})
	if run.Scenario != nil {
		b.clocks = newClocks(run.Scenario, h)
	}
	return b
}

// record processes the next event, and reports whether more are wanted.
func (b *builder) record(e *history.Event) bool {
	if b.count == b.shown.last {
		return false
	}
	b.count++
	b.now = e.Time
	if b.count == b.shown.first {
		b.shown.from = e.Time
	}
	b.checker.Record(e)
	switch e.Kind {
	case history.Step:
		b.nodeReply(e)
		return true
	case history.End:
		return true
	case history.FaultStart, history.FaultEnd:
		if b.clocks != nil {
			b.clocks.fault(e)
		}
	case history.Acquire:
		b.several = b.several || b.resource != "" && b.resource != e.Resource
		b.resource = e.Resource
	}
	b.noteAffected(e)
	return true
}

func (b *builder) finish() {
	b.shown.to = b.now
	b.checker.Finish()
	if b.clocks != nil {
		b.clocks.finish(b.now)
	}
}

// shows reports whether something that ended at an instant lies in the part that is shown.
func (b *builder) shows(to history.Time) bool { return b.count >= b.shown.first && to >= b.shown.from }

// clientStates maps the kinds of intervals to the states of a client.
var clientStates = map[history.Kind]State{
	history.Extend: Extends, history.Release: Releases, history.Read: Access, history.Write: Access,
	history.Pause: Paused, history.Kill: Dead, history.LinkDown: Cut,
}

// interval adds an interval to its lane.
func (b *builder) interval(i *timeline.Interval) {
	if !b.shows(i.To) {
		return
	}
	switch i.Begin.Kind {
	case history.FaultStart:
		b.shades = append(b.shades, Shade{Number: i.Begin.Fault, Name: label(i), From: i.From, To: i.To, Open: i.Open})
	case history.Acquire:
		if !i.Open {
			b.latencies = append(b.latencies, Sample{At: i.To, Value: float64(i.To - i.From), Bad: i.End.Kind != history.Granted})
		}
	case history.NodeDown, history.KeySet, history.KeyExtended:
		b.nodeInterval(i)
	case history.Leader:
		b.mark(storeLane, i, label(i))
		if i.Begin.Node == 0 {
			b.span(storeLane, Down, i, label(i))
		}
	case history.EntryGone:
		b.mark(storeLane, i, "entry gone: "+i.Begin.Reason)
	case history.Apply:
		b.mark(guardedLane, i, label(i)+fenceText(&i.Begin))
	case history.Cancel, history.Expiring, history.Lost, history.Lapse:
		b.mark(laneKey{Clients, i.Begin.Client}, i, i.Begin.Reason)
	default:
		b.clientInterval(i)
	}
}

func (b *builder) clientInterval(i *timeline.Interval) {
	state, known := clientStates[i.Begin.Kind]
	if !known || state == Cut && i.Cut == nil {
		return
	}
	text := told(i)
	switch state {
	case Extends, Releases:
		text = ending(i)
	case Paused, Dead:
		text = ""
	}
	lane := laneKey{Clients, i.Begin.Client}
	b.span(lane, state, i, text)
	if state == Dead {
		b.mark(lane, i, "")
	}
	if i.End.Outcome == history.Declined && state == Access {
		text := fmt.Sprintf("refuses a %s of client %d%s", strings.Fields(label(i))[0], i.Begin.Client, fenceText(&i.End))
		b.lanes.mark(guardedLane, Mark{At: i.To, Kind: i.End.Kind.String(), Text: text, ref: refOf(&i.Begin)})
	}
}

func (b *builder) nodeInterval(i *timeline.Interval) {
	l := laneKey{Nodes, i.Begin.Node}
	switch i.Begin.Kind {
	case history.NodeDown:
		b.span(l, Down, i, ending(i))
		b.lanes.mark(l, Mark{At: i.From, Kind: i.Begin.Kind.String(), Text: "down"})
		if !i.Open {
			b.lanes.mark(l, Mark{At: i.To, Kind: i.End.Kind.String(), Text: ending(i)})
		}
	case history.KeySet:
		b.span(l, Key, i, told(i))
	case history.KeyExtended:
		text := "extended"
		if i.Begin.Client != 0 {
			text += fmt.Sprintf(" by client %d", i.Begin.Client)
		}
		b.mark(l, i, text)
	}
}

// replyTexts describes the outcome of a request to a node.
var replyTexts = map[history.Outcome]string{history.OK: "agrees", history.Declined: "declines", history.Unknown: "does not answer"}

// nodeReply marks a node's reply. It is used only if the history does not record the keys of
// nodes.
func (b *builder) nodeReply(e *history.Event) {
	if b.header.Keys || e.Node == 0 || e.Name != env.StepReply.String() || !b.shows(e.Time) {
		return
	}
	text := fmt.Sprintf("%s, says client %d", cmp.Or(replyTexts[e.Outcome], "answers"), e.Client)
	b.lanes.mark(laneKey{Nodes, e.Node}, Mark{At: e.Time, Kind: e.Name, Text: text, ref: refOf(e)})
}

func (b *builder) span(l laneKey, state State, i *timeline.Interval, text string) {
	b.lanes.add(l, Span{From: i.From, To: i.To, State: state, Text: text, Open: i.Open, ref: refOf(&i.Begin)})
}

func (b *builder) mark(l laneKey, i *timeline.Interval, text string) {
	b.lanes.mark(l, Mark{At: i.From, Kind: i.Begin.Kind.String(), Text: text, ref: refOf(&i.Begin)})
}

func fenceText(e *history.Event) string {
	if e.Fence == 0 {
		return ""
	}
	return fmt.Sprintf(", fence %d", e.Fence)
}

// noteAffected notes which clients and nodes the fault behind an event affects.
func (b *builder) noteAffected(e *history.Event) {
	if e.Fault == 0 || e.Kind == history.FaultStart || e.Kind == history.FaultEnd {
		return
	}
	if b.affected[e.Fault] == nil {
		b.affected[e.Fault] = map[laneKey]bool{}
	}
	b.affected[e.Fault][laneKey{Clients, e.Client}] = true
	b.affected[e.Fault][laneKey{Nodes, e.Node}] = true
}
