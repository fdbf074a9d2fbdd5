package checker

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// state is what a history has said so far. It finds the client, hold and call that each
// event is about, and keeps the holds that further events can concern.
type state struct {
	header     history.Header
	docket     contradictions
	clients    []*client            // by number
	down       nodes                // nodes whose server is not running
	started    map[int]history.Time // by node: when its server last came up
	downed     map[int]history.Time // by node: when its server last went down
	emptied    comeback             // the last node that came back without all of its keys
	comebacks  []comeback           // the last one of each such node
	faults     map[int]bool         // faults that go on, by number
	ended      []int                // faults that have ended since the last try or grant, at most maxNotes
	forgetful  comeback             // the last node that came to lead a store without all acknowledged writes
	resources  map[string]*resource
	recent     [64]*resource  // resources looked up last, by a cheap hash of their names
	led        history.Time   // when the leader of a store last changed
	leaderless bool           // the store has none
	seen       []history.Time // by node: up to then all changes of its keys, or of a store's entries (0), are recorded; nil: no watch reports them
	answered   []history.Time // by node: when it, or the store (0), last answered its watch; nil: there is none
	changes    []keyChange    // of this instant, to be entered at its end
	entered    history.Event  // made of a grant: see [reentered]
	deadlines  deadlines
	settling   []*hold // holds that may be retired at the end of the instant
	spare      []*hold // retired holds, to be reused with their numbers
	stragglers bool    // they are asked for: see [straggler]
	places     int     // how many holds have a number
	serial     uint64  // of the newest hold
}

// fact is an event and what it is about. Fields that do not apply are nil.
type fact struct {
	*history.Event
	client  *client
	about   *resource // of a change of a key
	hold    *hold
	try     *hold // the try of a grant that enters the hold again: see [reentered]
	section *section
	parted  *releasedHold // the released hold that an extension is about

	replaced *section // the section that a read ends without a write

	changes bool         // the event changes the state of a link
	waited  history.Time // since when a watch has waited for the answer that the event is

	call call          // the call that the event returns from
	took time.Duration // from call to return, without pauses of the client
}

func newState(h history.Header) *state {
	l := &state{header: h, started: map[int]history.Time{}, downed: map[int]history.Time{}, faults: map[int]bool{}, resources: map[string]*resource{}}
	l.client(h.Clients)
	if h.Watched {
		l.seen, l.answered = make([]history.Time, h.Nodes+1), make([]history.Time, h.Nodes+1)
	}
	return l
}

func (l *state) client(number int) *client {
	if known := l.clients; uint(number) < uint(len(known)) {
		return known[number]
	}
	return l.admit(number)
}

// admit adds clients up to a number.
func (l *state) admit(number int) *client {
	for number >= len(l.clients) {
		l.clients = append(l.clients, &client{number: len(l.clients), turned: longAgo, cancelled: longAgo})
	}
	return l.clients[number]
}

func (l *state) resource(name string) *resource {
	recent := &l.recent[slot(name)]
	if *recent != nil && (*recent).name == name {
		return *recent
	}
	r := l.resources[name]
	if r == nil {
		r = &resource{number: len(l.resources), name: name}
		l.resources[name] = r
		l.crowded()
	}
	*recent = r
	return r
}

// slot is an index into the recent resources. Many names differ at their ends.
func slot(name string) int {
	if len(name) < 2 {
		return 0
	}
	return (int(name[len(name)-1]) + 10*int(name[len(name)-2])) % 64
}

// inOrder returns all resources in the order of their names.
func (l *state) inOrder() []*resource {
	all := slices.Collect(maps.Values(l.resources))
	slices.SortFunc(all, func(a, b *resource) int { return strings.Compare(a.name, b.name) })
	return all
}

// newHold opens a hold with the call of acquire.
func (l *state) newHold(e *history.Event) *hold {
	c, r := l.client(e.Client), l.resource(e.Resource)
	h := l.blank()
	h.client, h.resource, h.token, h.ttl = c, r, e.Token, e.TTL
	h.acquire, h.until = c.begin(e.Time), anyLapse
	c.holds = append(c.holds, h)
	r.holds = append(r.holds, h)
	return h
}

// anyLapse is the end of validity of a hold whose end is unknown. The first lapse of its
// token counts as its end.
const anyLapse = math.MinInt64

// noEnd is the end of validity of a hold that only a release ends. It has no lapse.
const noEnd = math.MaxInt64

// validityEnd returns the end of validity that a return states.
func validityEnd(e *history.Event) int64 {
	if e.Until == 0 {
		return noEnd
	}
	return e.Until
}

// blank returns an empty hold with an unused number.
func (l *state) blank() *hold {
	l.serial++
	last := len(l.spare) - 1
	if last < 0 {
		l.places++
		l.crowded()
		return &hold{number: l.places - 1, serial: l.serial}
	}
	h := l.spare[last]
	l.spare = l.spare[:last]
	*h = hold{number: h.number, serial: l.serial}
	return h
}

// settle retires the holds that no further event can concern. The last goes first, because
// it is at the end of its list.
func (l *state) settle() {
	for i := len(l.settling) - 1; i >= 0; i-- {
		if h := l.settling[i]; !h.retired && h.finished() {
			l.retire(h)
		}
	}
	l.settling, l.changes = l.settling[:0], l.changes[:0]
}

// finished reports whether no further event can change a verdict about the hold. Of a dead
// client only lapses and late writes can come.
func (h *hold) finished() bool {
	lease, section := &h.windows[leaseRule], &h.windows[sectionRule]
	if len(lease.implied)+len(section.implied) > 0 && (lease.awaits(h.client) || section.awaits(h.client)) {
		return false // a call under way may still show that it was granted
	}
	return h.over || h.client.dead && (lease.over || !lease.begun && h.writes == 0)
}

func (l *state) retire(h *hold) {
	h.retired = true
	h.client.drop(h)
	h.client.strand(h)
	if len(h.client.sections)+len(h.client.unanswered) > 0 {
		h.client.leaveAll(h)
	}
	h.client.holds = remove(h.client.holds, h)
	h.resource.holds = remove(h.resource.holds, h)
	if l.stragglers && h.writes > 0 && h.returned {
		h.resource.late = append(h.resource.late,
			straggler{client: h.client.number, token: h.token, granted: h.granted, writes: h.writes})
	}
	l.reuse(h)
}

// reuse frees the number of a retired hold when no resource refers to it.
func (l *state) reuse(h *hold) {
	if h.retired && h.references == 0 {
		l.spare = append(l.spare, h)
	}
}

// remove removes v from a short list and keeps the order.
func remove[T comparable](list []T, v T) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == v {
			return cut(list, i)
		}
	}
	return list
}

// cut removes an element of a list, most often the last. It does not keep the order.
func cut[T any](list []T, i int) []T {
	last := len(list) - 1
	if i < last {
		copy(list[i:], list[i+1:])
	}
	var none T
	list[last] = none
	return list[:last]
}

// straggler is a hold that is over while a write under it may still be applied.
type straggler struct {
	client  int
	token   string
	granted history.Time
	writes  int
}

// straggled returns the time of the grant of a write that is applied after its hold is
// over.
func (r *resource) straggled(client int, token string) (history.Time, bool) {
	for i, s := range r.late {
		if s.token != token || client != 0 && s.client != client {
			continue
		}
		if r.late[i].writes--; r.late[i].writes == 0 {
			r.late = remove(r.late, r.late[i])
		}
		return s.granted, true
	}
	return 0, false
}

// comeback is the return of a server with less state than it had.
type comeback struct {
	node int
	at   history.Time
	how  string
	down history.Time // when it went down
}

// leads describes a node that came to lead a store.
func (c comeback) leads() Event {
	e := Event{Role: RoleLoss, From: c.at, Nodes: oneNode(c.node)}
	return e.say("node %d leads the store since %s %s", c.node, at(c.at), c.how)
}

// perResource is what a judge or a meter has to remember of each resource. The
// zero value remembers nothing of any.
type perResource[T any] struct{ list []*T }

// of returns what is remembered of the resource, from its zero value on.
func (p *perResource[T]) of(r *resource) *T {
	for len(p.list) <= r.number {
		p.list = append(p.list, new(T))
	}
	return p.list[r.number]
}

// perHold is the same for each hold, as long as the state keeps it. A result is valid until the
// next call.
type perHold[T any] struct{ list []remembered[T] }

type remembered[T any] struct {
	serial uint64 // of the hold
	what   T
}

func (p *perHold[T]) of(h *hold) *T {
	for len(p.list) <= h.number {
		p.list = append(p.list, remembered[T]{})
	}
	m := &p.list[h.number]
	if m.serial != h.serial {
		*m = remembered[T]{serial: h.serial}
	}
	return &m.what
}
