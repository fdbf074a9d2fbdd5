package checker

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// state finds out whom and what each event is about: it matches returns with
// their calls, and keeps the holds that further events can concern.
type state struct {
	header     history.Header
	docket     contradictions
	clients    []*client            // by number
	down       nodes                // whose server is not running
	started    map[int]history.Time // by node: when its server last came up again
	emptied    comeback             // the last that was not with all of its keys
	faults     map[int]bool         // that have begun and not ended
	forgetful  comeback             // the last that came to lead a store without all that had been acknowledged
	resources  map[string]*resource
	recent     [64]*resource // that were looked up last, by a cheap hash of their names
	changes    []keyChange   // of this instant
	entered    history.Event // that was made of a grant: see [reentered]
	settling   []*hold       // that may be retired at the end of the instant
	spare      []*hold       // retired, to be used again with their numbers
	stragglers bool          // somebody asks for them: see [straggler]
	places     int           // numbers of holds, in all
	serial     uint64        // of the last hold
}

// fact is an event together with what it is about. What does not apply is nil.
type fact struct {
	*history.Event
	client  *client
	hold    *hold
	try     *hold // of a grant that enters the hold again: see [reentered]
	section *section
	parted  *releasedHold // of an extension of what was released

	replaced *section // that a read leaves, without a write

	changes bool // a link that was not down before, or not up

	call call          // that a return belongs to
	took time.Duration // from call to return, what the client stood still not counted
}

func newState(h history.Header) *state {
	l := &state{header: h, started: map[int]history.Time{}, faults: map[int]bool{}, resources: map[string]*resource{}}
	l.client(h.Clients)
	return l
}

func (l *state) client(number int) *client {
	if known := l.clients; uint(number) < uint(len(known)) {
		return known[number]
	}
	return l.admit(number)
}

// admit makes the client of a number, and of all up to it.
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

// slot is a place among the recent resources: many names differ at their ends.
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

// anyLapse is the end of validity of a hold whose end is not known: the first
// lapse of its token is taken for it.
const anyLapse = math.MinInt64

// noEnd is the end of validity of a hold that only a release ends: no lapse
// comes to it.
const noEnd = math.MaxInt64

// validityEnd returns the end of validity that a return tells.
func validityEnd(e *history.Event) int64 {
	if e.Until == 0 {
		return noEnd
	}
	return e.Until
}

// blank returns a hold of which nothing is known, with a number that no other has
// that may still be spoken of.
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

// settle lets go of the holds that no event can concern any more: the last first,
// as it is found, and taken out, at the end of its list.
func (l *state) settle() {
	for i := len(l.settling) - 1; i >= 0; i-- {
		if h := l.settling[i]; !h.retired && h.finished() {
			l.retire(h)
		}
	}
	l.settling, l.changes = l.settling[:0], l.changes[:0]
}

// finished reports whether nothing that is still to come can change a verdict
// on the hold. Of a client that is dead only lapses and late writes can come.
func (h *hold) finished() bool {
	lease, section := &h.windows[leaseRule], &h.windows[sectionRule]
	if len(lease.acts)+len(section.acts) > 0 && (lease.awaits(h.client) || section.awaits(h.client)) {
		return false // an act under way may still show that it was granted
	}
	return h.over || h.client.dead && (lease.over || !lease.begun && h.writes == 0)
}

func (l *state) retire(h *hold) {
	h.retired = true
	h.client.drop(h)
	h.client.strand(h)
	if len(h.client.sections) > 0 {
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

// reuse lets another take the place of a hold that is retired, once no line speaks
// of it any more.
func (l *state) reuse(h *hold) {
	if h.retired && h.lined == 0 {
		l.spare = append(l.spare, h)
	}
}

// remove takes v out of a short list, whose order stays.
func remove[T comparable](list []T, v T) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == v {
			return cut(list, i)
		}
	}
	return list
}

// cut takes one out of a list, most often the last.
func cut[T any](list []T, i int) []T {
	last := len(list) - 1
	if i < last {
		copy(list[i:], list[i+1:])
	}
	var none T
	list[last] = none
	return list[:last]
}

// straggler is a hold that is over while a write of it may still come.
type straggler struct {
	client  int
	token   string
	granted history.Time
	writes  int
}

// straggled returns the time of the grant under which a write was called that
// arrives only now, when the hold is over.
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

// comeback is when a node's server came back with less than it had.
type comeback struct {
	node int
	at   history.Time
	how  string
}

// leads tells of a node that came to lead a store.
func (c comeback) leads() Statement {
	return Statement{Kind: Leads, Node: c.node, At: c.at, Detail: c.how}
}
