package trace

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Trace is what was heard in a run. It is a [runner.Watcher] of one run, whose clients
// take turns.
type Trace struct {
	header  history.Header
	clocks  *clocks
	records []record
	dropped int           // what came when there were [MostRecords]
	last    history.Event // of the history
	replies map[int]reply // the last of each client
}

// New returns a trace of a run whose lock reads this clock.
func New(lock env.Clock) *Trace {
	return &Trace{clocks: &clocks{lock: lock}, replies: map[int]reply{}}
}

// Of returns the experiment with a trace of its runs as its watcher, which reads the clock
// that the lock does.
func Of(e runner.Experiment) (runner.Experiment, *Trace) {
	t := New(e.Scenario().Lock.ReadsClock())
	return e.Watched(t), t
}

// record is something that was heard, and when it happened.
type record struct {
	at   history.Time
	what Entry
}

// reply is an answer that may turn out to be counted.
type reply struct {
	at   history.Time
	what *Replied
}

// Entry is one thing that was heard: [Happened], [Sent], [*Replied], [Asked], [Answered] or
// [ClockIs].
type Entry interface {
	// tell puts it into words: who did it, and what. Without words it is not worth a line.
	tell(t *describer) (who, what string)
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

// counted notes on the answer that a step is about that it was counted.
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

// MaxRecords is how many things a trace keeps: a hundred megabytes of them. A run can have
// a hundred times as many, and nobody reads so far.
const MaxRecords = 200_000

func (t *Trace) add(at history.Time, what Entry) {
	if len(t.records) >= MaxRecords {
		t.dropped++
		return
	}
	if h, is := what.(Happened); is { // the event is the world's, and lent
		e := *h.Event
		what = Happened{&e}
	}
	t.records = append(t.records, record{at, what})
}

// now is the time of what no event tells.
func (t *Trace) now() history.Time {
	if t.clocks.of == nil {
		return t.last.Time
	}
	return t.clocks.of.Ground()
}

// sorted returns the records in the order of their time: a lapse is told by the world
// after the fact.
func (t *Trace) sorted() []record {
	list := slices.Clone(t.records)
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	return list
}
