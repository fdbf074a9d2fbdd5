package conform

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// A run is replayed in two passes. The first finds the steps, and what of them only the rest of the run shows:
// when a client could no longer rely on a round, when keys expired, when a grant was decided. The second
// carries them out.

// forever is the end of what does not end.
const forever Time = math.MaxInt64 / 4

// afterCheck is the name of the step at which a client has looked at its clock again.
var afterCheck = env.StepAfterCheck.String()

// step is a step of the specification that the first pass has found.
type step struct {
	kind     kind
	order    int // of the record that shows it
	at       Time
	what     string // the record in words
	resource string

	try     *tryPlan
	round   *roundPlan
	node    int
	version *version // of Set, Extend, Revert
	since   Time     // of Revert and Empty: when the node last carried out anything
	counter string   // of a step of fences: the key of the counters
	number  uint64   // of Choose, Raise, Change and EndDraw
}

// kind is the kind of a step, by its name in machine.dfy.
type kind string

const (
	begin    kind = "Begin"
	sending  kind = "Send"
	set      kind = "Set"
	extend   kind = "Extend"
	drop     kind = "Drop"
	grant    kind = "Grant"
	giveUp   kind = "GiveUp"
	deletion kind = "Delete"
	revert   kind = "Revert"
	empty    kind = "Empty"
	tick     kind = "Tick"
	stray    kind = "no step of the specification" // what has no counterpart

	beginDraw kind = "BeginDraw" // of fences.dfy, and those below
	count     kind = "Count"
	choose    kind = "Choose"
	raise     kind = "Raise"
	change    kind = "Change"
	endDraw   kind = "EndDraw"
)

// tryPlan is a try of a run.
type tryPlan struct {
	resource   string
	token      string
	ttl        time.Duration
	set        *roundPlan
	extensions []*roundPlan // in the order in which they began
	until      int64        // the end of validity that the client relies on, on its clock, ns
	grants     []*roundPlan // those that have moved it
	lapses     []lapse
	released   Time // when its release began; 0: not
	refused    Time // when it was refused; 0: not
	granted    bool
	over       bool // given up
	presumed   int  // the step that gives it up because a delete shows that it was given up; -1: none
	number     try

	looked int // the record at which the client has last looked at its clock
	draw   *drawPlan
}

// drawPlan is the draw of a fence.
type drawPlan struct {
	counter string
	chosen  uint64 // the number that it has chosen: replies that come later change nothing; 0: none yet
	number  int
}

// lapse is that the client's clock has come to an end of validity.
type lapse struct {
	order int // of its record
	at    Time
	told  Time // when it was recorded: later, if the end was declared later, just before that grant
}

// roundPlan is a round of a run.
type roundPlan struct {
	try     *tryPlan
	order   int // of the record at which the client has read its clock
	read    Time
	clock   int64 // its reading, ns
	ttl     time.Duration
	granted int   // the order of the record that reports its grant; 0: none
	back    Time  // when that was
	until   int64 // the end of validity that it grants, on the client's clock, ns
	ends    Time  // when that is, as the clock ran at the grant; 0: not known

	lease, keep Time
	number      round

	withheld map[int]string // nodes whose vote does not count, and the assumption that says so
}

// version is what a node stored, from one step to the next.
type version struct {
	node    int
	token   string
	at      Time
	ends    Time       // when it expires as the clock ran then
	stored  int64      // the last millisecond of the node's clock in which it exists
	gone    Time       // when it expired; 0: not
	expires Time       // when it did, or would have
	round   *roundPlan // of a version that a request has made
	next    *version   // an extension of it
	of      *version   // restored: the version that it is again; nil: it never was
	again   []*version // those that are it again
	key     key        // as the machine has it
}

// planner is the first pass.
type planner struct {
	recorder *Recorder
	steps    []step
	tries    map[tryName]*tryPlan
	rounds   []*roundPlan
	versions []*version
	has      map[place]*version
	running  map[int]int          // by node: the send whose command it executes
	down     map[int]Time         // by node: since when
	past     map[place][]*version // since it last lost data
	effects  map[place][]effect   // of requests on keys, since then, and on counters
	clocks   map[int][]look       // by client
	counters map[place]uint64     // the numbers of counters, by their keys
	counts   map[asked][]counting // in their order
	end      Time                 // of the run, so far
}

// effect is a change that a request has made.
type effect struct {
	send   int
	before *version // nil: there was no key
	number uint64   // of a counter, before
	step   int
}

type tryName struct {
	client int
	token  string
}

type place struct {
	node     int
	resource string
}

type look struct {
	order int
	clock int64 // ns
}

// asked is the command of a send on a node, counting that the node carries it out and reads a number.
type (
	asked    struct{ send, node int }
	counting struct {
		order  int
		at     Time
		number uint64
	}
)

func (p *planner) add(s step) { p.steps = append(p.steps, s) }

// plan finds the steps of a run.
func plan(r *Recorder) []step {
	p := &planner{
		recorder: r, tries: map[tryName]*tryPlan{}, has: map[place]*version{}, running: map[int]int{},
		down: map[int]Time{}, past: map[place][]*version{}, effects: map[place][]effect{}, clocks: map[int][]look{},
		counters: map[place]uint64{}, counts: map[asked][]counting{},
	}
	for i := range r.list {
		p.record(i, &r.list[i])
	}
	for i, s := range p.steps { // a node that never comes back has forgotten nothing
		if since, down := p.down[s.node]; down && s.kind == change && s.at >= since {
			p.steps[i].kind = ""
		}
	}
	p.expiries()
	p.leases()
	slices.SortStableFunc(p.steps, func(a, b step) int { return a.order - b.order })
	return p.steps
}

func (p *planner) record(order int, k *record) {
	p.end = max(p.end, k.at)
	switch k.what {
	case sent:
		p.sent(order, k)
	case executing:
		p.running[k.node] = k.send
		if c := p.recorder.sends[k.send].command; c.Op == env.OpCount {
			which := asked{k.send, k.node}
			p.counts[which] = append(p.counts[which], counting{order, k.at, p.counters[place{k.node, c.Key}]})
		}
	case replied:
		p.replied(order, k)
	case counted:
		p.counted(order, k)
	case restored:
		p.restore(order, k)
	default:
		p.event(order, k)
	}
}

// sent finds the try and the round of a command.
func (p *planner) sent(order int, k *record) {
	s := p.recorder.sends[k.send]
	op := s.command.Op
	if op == env.OpIncrement || op == env.OpVouch { // not of the keys of locks, nor of their fences
		return
	}
	s.try = p.tries[tryName{s.client, s.command.Token}]
	if op == env.OpCount || op == env.OpRaise {
		p.recorder.sends[k.send] = s
		p.draws(order, k, s)
		return
	}
	wrong := ""
	switch {
	case s.try == nil:
		wrong = "of a token that the client has drawn for no try"
	case op == env.OpSet || op == env.OpAdd:
		s.round = s.try.set
	case op == env.OpExtend:
		s.round = s.try.extensionFor(s.command.TTL)
	case op != env.OpDelete && op != env.OpRemove:
		wrong = "of a command that the specification does not have"
	}
	if s.round == nil && (op == env.OpSet || op == env.OpAdd || op == env.OpExtend) && wrong == "" {
		wrong = "before the client has read its clock for it"
	}
	if wrong != "" {
		p.add(step{kind: stray, order: order, at: k.at, resource: s.command.Key, what: fmt.Sprintf("client %d sends %s, %s", s.client, op, wrong)})
	}
	p.recorder.sends[k.send] = s
}

// draws finds the begin of a draw, and the number that it tries. A draw begins when the client has looked at its
// clock, before it asks for the counters. A client that asks one node after another sends to each, and to the last
// ones when it has chosen.
func (p *planner) draws(order int, k *record, of send) {
	t := of.try
	if t == nil {
		return // for another lock
	}
	s := step{order: order, at: k.at, resource: t.resource, try: t, counter: of.command.Key, number: of.command.Count}
	s.what = fmt.Sprintf("client %d sends %s", of.client, of.command.Op)
	switch {
	case t.set == nil || t.draw == nil && of.command.Op == env.OpRaise:
		s.kind, s.counter = stray, ""
	case of.command.Op == env.OpCount:
		if t.draw != nil {
			return
		}
		t.draw = &drawPlan{counter: s.counter}
		s.kind, s.order = beginDraw, max(t.looked, t.set.order)
		s.at = p.recorder.list[s.order].at
	case t.draw.chosen == s.number:
		return
	default:
		s.kind, t.draw.chosen = choose, s.number
	}
	p.add(s)
}

// replied finds when a node read the number that a client receives.
func (p *planner) replied(order int, k *record) {
	of := p.recorder.sends[k.send]
	if of.try == nil || of.try.draw == nil || of.try.draw.chosen > 0 {
		return
	}
	s := step{kind: stray, order: order, at: k.at, resource: of.try.resource, try: of.try, node: k.node}
	s.what = fmt.Sprintf("node %d reads %d", k.node, k.number)
	for _, c := range slices.Backward(p.counts[asked{k.send, k.node}]) {
		if c.number == k.number {
			s.kind, s.order, s.at, s.counter = count, c.order, c.at, of.command.Key
			break
		}
	}
	p.add(s)
}

// counted notes another number of a counter. A node that raises it does so as it executes the request. Changes
// of one instant are one: a fault removes a counter before it brings an older one back.
func (p *planner) counted(order int, k *record) {
	at := place{k.node, k.event.Resource}
	was := p.counters[at]
	p.counters[at] = k.number
	s := step{kind: change, order: order, at: k.at, node: k.node, counter: at.resource, number: k.number}
	s.what = fmt.Sprintf("the counter of node %d is %d", k.node, k.number)
	before := &p.recorder.list[order-1]
	of := p.recorder.sends[before.send]
	again := func(e effect) bool { return e.number == k.number }
	last := &step{}
	if len(p.steps) > 0 {
		last = &p.steps[len(p.steps)-1]
	}
	switch {
	case before.what == executing && before.node == k.node && of.command.Op == env.OpRaise && of.try != nil && of.try.draw != nil:
		s.kind, s.try, s.resource = raise, of.try, of.try.resource
		p.effects[at] = append(p.effects[at], effect{send: before.send, number: was, step: len(p.steps)})
	case last.kind == change && last.node == k.node && last.counter == s.counter && last.at == k.at:
		if last.number = k.number; p.undo(at, again) {
			last.kind = ""
		}
		return
	case p.undo(at, again):
		return
	}
	p.add(s)
}

func (p *planner) event(order int, k *record) {
	e := &k.event
	if e.Client > 0 && e.Kind != history.Lapse && e.Kind != history.KeySet && e.Kind != history.KeyExtended && e.Kind != history.KeyGone {
		p.clocks[e.Client] = append(p.clocks[e.Client], look{order, k.clock})
	}
	t := p.tries[tryName{e.Client, e.Token}]
	s := step{order: order, at: k.at, resource: e.Resource, try: t, node: e.Node, what: text(e)}
	switch e.Kind {
	case history.Acquire:
		s.kind, s.try = begin, &tryPlan{resource: e.Resource, token: e.Token, ttl: e.TTL, presumed: -1}
		p.tries[tryName{e.Client, e.Token}] = s.try
		p.add(s)
	case history.Step:
		if e.Name == history.BeforeSend && t != nil {
			t.set = p.open(s, k, t.ttl)
		}
		if e.Name == afterCheck && t != nil {
			t.looked = order
		}
	case history.Extend:
		if t != nil {
			t.extensions = append(t.extensions, p.open(s, k, e.TTL))
		}
	case history.Granted, history.Extended:
		p.grantEvent(s, e)
	case history.Refused:
		if t != nil {
			t.refused = k.at
			p.giveUp(s, t)
		}
	case history.Release:
		if t != nil {
			t.released = k.at
			p.giveUp(s, t)
		}
	case history.Lapse:
		if t != nil {
			at := k.at
			if e.Since != 0 {
				at = Time(e.Since)
			}
			t.lapses = append(t.lapses, lapse{order, at, k.at})
		}
	case history.KeySet, history.KeyExtended:
		p.keyEvent(s, k)
	case history.KeyGone:
		p.goneEvent(s, e)
	case history.NodeDown:
		p.down[e.Node] = k.at
	case history.NodeUp:
		delete(p.down, e.Node)
	}
}

// open begins a round: the client has read its clock.
func (p *planner) open(s step, k *record, ttl time.Duration) *roundPlan {
	r := &roundPlan{try: s.try, order: s.order, read: k.at, clock: k.clock, ttl: ttl, withheld: map[int]string{}}
	p.rounds = append(p.rounds, r)
	s.kind, s.round = sending, r
	p.add(s)
	return r
}

// extensionFor returns the last extension for a TTL, or nil. A client that asks one node after another goes on to do
// so after the grant, and may have begun the next extension by then.
func (t *tryPlan) extensionFor(ttl time.Duration) *roundPlan {
	for _, r := range slices.Backward(t.extensions) {
		if r.ttl == ttl {
			return r
		}
	}
	return nil
}

// giveUp gives a try up, unless it is.
func (p *planner) giveUp(s step, t *tryPlan) {
	if !t.over {
		t.over = true
		s.kind, s.try = giveUp, t
		p.add(s)
	}
}

// grantEvent notes a grant. An extension to no later end than before changes nothing that the client relies on.
func (p *planner) grantEvent(s step, e *history.Event) {
	var r *roundPlan
	switch {
	case s.try == nil:
	case e.Kind == history.Granted:
		r = s.try.set
	default:
		r = s.try.extensionFor(e.TTL)
	}
	if r == nil {
		s.kind = stray
		p.add(s)
		return
	}
	t := s.try
	t.granted = true
	if t.presumed >= 0 { // it was not given up
		p.steps[t.presumed].kind, t.presumed, t.over = "", -1, false
	}
	if e.Kind == history.Extended && e.Until <= t.until {
		return
	}
	t.until = e.Until
	t.grants = append(t.grants, r)
	r.until, r.ends, r.granted, r.back = e.Until, Time(e.Ends), s.order, s.at
	s.kind, s.round = grant, r
	s.order = p.decided(r, e, s.order)
	s.at = p.recorder.list[s.order].at
	if t.draw != nil && e.Kind == history.Granted {
		end := s
		end.kind, end.counter, end.number = endDraw, t.draw.counter, e.Fence
		p.add(end)
	}
	p.add(s)
}

// decided returns the order of the record at which the lock's last look at its clock found that the validity
// lasts: it is reported only when the client goes on.
func (p *planner) decided(r *roundPlan, e *history.Event, reported int) int {
	if e.Now == 0 {
		return reported
	}
	for _, seen := range slices.Backward(p.clocks[e.Client]) {
		if seen.order > r.order && seen.order <= reported && seen.clock <= e.Now {
			return seen.order
		}
	}
	return reported
}

// keyEvent notes that a node stores a key.
func (p *planner) keyEvent(s step, k *record) {
	e := &k.event
	at := place{e.Node, e.Resource}
	if e.Client == 0 && e.Kind == history.KeySet {
		return // restored says so
	}
	run, ok := p.recorder.sends[p.running[e.Node]]
	ends := forever
	if e.Ends != 0 && e.Detail != history.NoExpiry {
		ends = Time(e.Ends)
	}
	op := run.command.Op
	if !ok || run.command.Token != e.Token || run.command.Key != e.Resource || run.round == nil {
		s.kind = stray
		p.add(s)
		if e.Kind == history.KeySet {
			p.has[at] = nil
		}
		return
	}
	before := p.has[at]
	v := &version{node: e.Node, token: e.Token, at: k.at, ends: ends, round: run.round, stored: k.clock/int64(time.Millisecond) + run.command.TTL.Milliseconds()}
	s.kind, s.try, s.round, s.version = set, run.round.try, run.round, v
	if op == env.OpExtend {
		s.kind = extend
		if before != nil {
			before.next = v
			v.stored = max(v.stored, before.stored)
		}
	}
	p.effects[at] = append(p.effects[at], effect{send: p.running[e.Node], before: before, step: len(p.steps)})
	p.keep(at, v)
	p.add(s)
}

// undo takes back the last effects of requests to whose replies no client has received, up to one before which the
// node had what it has now: what a node loses that it has not acknowledged (a record that is not synced yet) it never
// did. It returns false if there is no such effect.
func (p *planner) undo(at place, same func(effect) bool) bool {
	all := p.effects[at]
	for i, e := range slices.Backward(all) {
		if p.recorder.seen[asked{e.send, at.node}] {
			return false
		}
		if !same(e) {
			continue
		}
		for _, undone := range all[i:] {
			s := &p.steps[undone.step]
			p.versions = slices.DeleteFunc(p.versions, func(v *version) bool { return v == s.version })
			p.past[at] = slices.DeleteFunc(p.past[at], func(v *version) bool { return v == s.version })
			if undone.before != nil && undone.before.next == s.version {
				undone.before.next = nil
			}
			s.kind = ""
		}
		p.effects[at] = all[:i]
		if e.before != nil {
			p.has[at] = e.before
		}
		return true
	}
	return false
}

// keep notes what a node stores now.
func (p *planner) keep(at place, v *version) {
	p.has[at], p.versions = v, append(p.versions, v)
	p.past[at] = append(p.past[at], v)
}

// goneEvent notes that a node no longer stores a key.
func (p *planner) goneEvent(s step, e *history.Event) {
	at := place{e.Node, e.Resource}
	v := p.has[at]
	delete(p.has, at)
	switch e.Reason {
	case history.Expired:
		delete(p.effects, at)
		if v != nil {
			v.gone = s.at
		}
		s.kind = drop
	case history.Deleted:
		run := p.recorder.sends[p.running[e.Node]]
		if s.kind, s.try = deletion, run.try; run.try == nil {
			s.kind = stray
			break
		}
		if !run.try.granted && !run.try.over { // the client goes on before it reports the failure
			run.try.presumed = len(p.steps)
			p.giveUp(s, run.try)
		}
		p.effects[at] = append(p.effects[at], effect{send: p.running[e.Node], before: v, step: len(p.steps)})
	case history.Forgotten, history.RolledBack:
		s.kind, s.since = empty, s.at
		if since, down := p.down[e.Node]; down {
			s.since = since
		}
		if next := s.order + 1; next < len(p.recorder.list) {
			if k := &p.recorder.list[next]; k.what == restored && k.node == e.Node && k.event.Resource == e.Resource {
				return // another version is there instead
			}
		}
		if p.undo(at, func(e effect) bool { return e.before == nil }) {
			return
		}
		delete(p.past, at)
		delete(p.effects, at)
	case history.Evicted:
		s.kind = drop
	default:
		s.kind = stray
	}
	p.add(s)
}

// restore notes that a node has gone back to a version of a key.
func (p *planner) restore(order int, k *record) {
	at := place{k.node, k.event.Resource}
	if v := p.has[at]; v != nil && v.token == k.event.Token && v.stored == k.stored {
		return
	}
	if p.undo(at, func(e effect) bool {
		return e.before != nil && e.before.token == k.event.Token && e.before.stored == k.stored
	}) {
		return
	}
	delete(p.effects, at)
	ends := forever
	if k.event.Ends != 0 {
		ends = Time(k.event.Ends)
	}
	v := &version{node: k.node, token: k.event.Token, at: k.at, ends: ends, stored: k.stored}
	for _, older := range slices.Backward(p.past[at]) {
		if older.token == v.token && older.stored == v.stored {
			v.of = older
			older.again = append(older.again, v)
			break
		}
	}
	p.past[at] = nil
	p.keep(at, v)
	s := step{
		kind: revert, order: order, at: k.at, since: k.at, node: k.node, resource: at.resource, version: v,
		what: fmt.Sprintf("node %d goes back to an earlier version of the key of %s", k.node, v.token),
	}
	if since, down := p.down[k.node]; down {
		s.since = since
	}
	p.add(s)
}

// text names an event.
func text(e *history.Event) string {
	who := ""
	switch {
	case e.Node > 0:
		who = fmt.Sprintf(" of node %d", e.Node)
	case e.Client > 0:
		who = fmt.Sprintf(" of client %d", e.Client)
	}
	return fmt.Sprintf("%v%s", e.Kind, who)
}
