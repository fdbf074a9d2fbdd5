package conform

import (
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// Lock is what a run's history does not say of its lock.
type Lock struct {
	Clock     env.Clock                             // that it reads
	Allowance func(ttl time.Duration) time.Duration // for clock error
}

// Clocks are those of a world.
type Clocks interface {
	Ground() history.Time
	ClientClock(client int, which env.Clock) env.Instant
	NodeClock(node int) env.Instant
}

// Recorder keeps what happens in a run, and replays it when its history ends.
type Recorder struct {
	lock   Lock
	each   func(Outcome)
	header history.Header
	clocks Clocks
	list   []record
	sends  map[int]send   // by their numbers
	seen   map[asked]bool // replies that a client has received
}

// New returns a recorder that calls each with the outcome of each run.
func New(l Lock, each func(Outcome)) *Recorder { return &Recorder{lock: l, each: each} }

// record is one thing that has happened.
type record struct {
	what   what
	at     Time
	event  history.Event // of an event, with Token and Resource of a restored key, with Resource of a counter
	clock  int64         // what the clock of the event's client, or of the node, showed; ns
	send   int           // that is made, whose command is executed, or to which a node replies
	node   int
	number uint64 // of a counter
	stored int64  // restored: the last millisecond of the node's clock in which the key exists
}

type what uint8

const (
	happened  what = iota // an event of the history
	sent                  // a client sends a command
	executing             // a node is about to execute it
	restored              // a node has an earlier version of a key again
	replied               // a client receives the number of a node's counter
	counted               // a node's counter has another number
)

// send is a command that a client has sent.
type send struct {
	client  int
	command env.Command
	round   *roundPlan // of a SET or an extension
	try     *tryPlan
}

// lists are those of recorders whose run is over. A run makes thousands of records, and a hunt a recorder for each.
var lists = sync.Pool{New: func() any { return new([]record) }}

// Start begins a run.
func (r *Recorder) Start(h history.Header, c Clocks) {
	r.header, r.clocks, r.sends, r.seen = h, c, map[int]send{}, map[asked]bool{}
	r.list = (*lists.Get().(*[]record))[:0]
}

// Record implements [history.Sink].
func (r *Recorder) Record(e *history.Event) {
	k := record{at: Time(e.Time), event: *e}
	switch {
	case e.Kind == history.KeySet || e.Kind == history.KeyExtended:
		k.clock = int64(r.clocks.NodeClock(e.Node))
	case e.Client > 0 && e.Kind != history.Lapse:
		k.clock = int64(r.clocks.ClientClock(e.Client, r.lock.Clock))
	}
	r.list = append(r.list, k)
	if e.Kind == history.End {
		r.each(replay(r))
		list := r.list
		r.list = nil
		lists.Put(&list)
	}
}

// Sent records that a client sends a command. Sends are numbered from 1.
func (r *Recorder) Sent(client, number int, c env.Command) {
	r.sends[number] = send{client: client, command: c}
	r.list = append(r.list, record{what: sent, at: Time(r.clocks.Ground()), send: number})
}

// Executes records that a node is about to execute the command of a send.
func (r *Recorder) Executes(node, number int) {
	r.list = append(r.list, record{what: executing, at: Time(r.clocks.Ground()), node: node, send: number})
}

// Restored records that a fault has taken a node back to a version of a key. expiry is the last millisecond of
// the node's clock in which the key exists, ends when that is over as the clock runs.
func (r *Recorder) Restored(node int, resource, token string, expiry int64, ends history.Time) {
	r.list = append(r.list, record{
		what: restored, at: Time(r.clocks.Ground()), node: node, stored: expiry,
		event: history.Event{Resource: resource, Token: token, Ends: ends},
	})
}

// Replied records that a client has received a reply: what a node loses that nobody has seen it never did. Those that
// read a counter also say when: a client chooses its number by what it has read, not by what nodes had.
func (r *Recorder) Replied(number int, reply env.Reply) {
	if reply.Answer != env.Yes {
		return
	}
	r.seen[asked{number, reply.Node}] = true
	if r.sends[number].command.Op == env.OpCount {
		r.list = append(r.list, record{what: replied, at: Time(r.clocks.Ground()), node: reply.Node, send: number, number: reply.Count})
	}
}

// Counted records that a node's counter has changed. It is gone if number is 0.
func (r *Recorder) Counted(node int, key string, number uint64) {
	r.list = append(r.list, record{what: counted, at: Time(r.clocks.Ground()), node: node, number: number, event: history.Event{Resource: key}})
}
