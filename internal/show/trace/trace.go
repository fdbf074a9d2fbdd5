package trace

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Trace records what happens in a run. It is a [runner.Watcher] of one run, whose clients
// run one at a time.
type Trace struct {
	header  history.Header
	clocks  *clocks
	records []record
	events  int           // how many of the records are events
	dropped int           // what came when there were [MaxRecords]
	last    history.Event // of the history
	replies map[int]reply // the last of each client
}

// New returns a trace of a run whose lock reads this clock.
func New(lock env.Clock) *Trace {
	return &Trace{clocks: &clocks{lock: lock}, replies: map[int]reply{}}
}

// Of returns the experiment with a trace as its watcher. The trace shows the clock that
// the lock reads.
func Of(e runner.Experiment) (runner.Experiment, *Trace) {
	t := New(e.Scenario().Lock.ReadsClock())
	return e.Watched(t), t
}

// record is an entry and its time.
type record struct {
	at    history.Time
	what  Entry
	event int // its number among the events, from 1; 0: it is none
}

// reply is a reply that may still be counted.
type reply struct {
	at   history.Time
	what *Replied
}

// Open implements [runner.Watcher].
func (t *Trace) Open(h history.Header, c runner.ClockReader) {
	t.header = h
	t.clocks.open(h, c)
}

// Record implements [history.Sink].
func (t *Trace) Record(e *history.Event) {
	t.clocks.look(&t.last, e, func(c ClockIs) { t.add(t.last.Time, c) })
	t.last = *e
	if e.Kind == history.Step && e.Node > 0 && t.counted(e) {
		return
	}
	t.add(e.Time, Happened{&t.last})
}

// counted marks the reply that the step is about as counted.
func (t *Trace) counted(e *history.Event) bool {
	r := t.replies[e.Client]
	if r.what == nil || r.at != e.Time || r.what.Reply.Node != e.Node {
		return false
	}
	r.what.Counted = e.Outcome
	return true
}

// Sent implements [runner.Watcher].
func (t *Trace) Sent(client, round int, to env.NodeSet, c env.Command) {
	t.add(t.now(), Sent{client, round, to, c})
}

// Replied implements [runner.Watcher].
func (t *Trace) Replied(client, round int, r env.Reply) {
	last := reply{t.now(), &Replied{Client: client, Round: round, Reply: r}}
	t.replies[client] = last
	t.add(last.at, last.what)
}

// Asked implements [runner.Watcher].
func (t *Trace) Asked(client, round int, r env.StoreRequest) {
	t.add(t.now(), Asked{client, round, r})
}

// Answered implements [runner.Watcher].
func (t *Trace) Answered(client, round int, r env.StoreReply, err error) {
	t.add(t.now(), Answered{client, round, r, err})
}

// MaxRecords is the number of entries that a trace keeps, about 100 MB. A run can have 100
// times as many, more than anyone reads.
const MaxRecords = 200_000

func (t *Trace) add(at history.Time, what Entry) {
	if len(t.records) >= MaxRecords {
		t.dropped++
		return
	}
	r := record{at: at, what: what}
	if h, is := what.(Happened); is { // the event is the world's, and lent
		e := *h.Event
		t.events++
		r.what, r.event = Happened{&e}, t.events
	}
	t.records = append(t.records, r)
}

// Past is what the timeline says of the run. Its events are numbered as in [Line].
func (t *Trace) Past() timeline.Past {
	return timeline.PastOf(t.header, func(yield func(*history.Event) bool) {
		for _, r := range t.records {
			if h, is := r.what.(Happened); is && !yield(h.Event) {
				return
			}
		}
	})
}

// now returns the time of an entry that is not an event.
func (t *Trace) now() history.Time {
	if t.clocks.of == nil {
		return t.last.Time
	}
	return t.clocks.of.Ground()
}

// sorted returns the records in the order of their times: the world may record a lapse
// late.
func (t *Trace) sorted() []record {
	list := slices.Clone(t.records)
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	return list
}
