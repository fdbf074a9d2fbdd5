package checker

import (
	"fmt"
	"math"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Cleanup says that a try that is refused, and a hold that is released, leave no keys behind.
const Cleanup Property = "cleanup"

// cleanup judges whether keys are left behind. After a try was refused, or a release
// has returned, no node keeps the token's key for longer than the bound. The bound
// counts from the end of the call, from when the key was set if that was later, and
// anew when the client resumes from a pause.
//
// Excused are nodes that were down or out of the client's reach meanwhile, clients
// that have died, deletions over a link that a fault delayed, and keys that are set
// late by a request that such a fault delayed: it can arrive at any time.
//
// If a watch reports the keys, changes are recorded late, but in their order. Then a key counts as kept
// only if all changes of its node up to the bound are recorded, and its deletion is not among them. And
// the watch must have seen the node several times since it was given up: see [requiredLooks]. A node
// that answers its watch late is not in reach meanwhile: of a key that it keeps then the verdict is
// unknown. A token
// that was given up counts only when the changes of all nodes up to then are recorded, so not if the
// watch of one began anew in between. If it cannot be said either way, the verdict is unknown.
//
// The same is judged of a lock's entries in a store. There everything is excused that was in the
// client's way to the store meanwhile: see [state.undisturbed]. A client that waits for an entry
// which may still come looks at longer and longer intervals, so the bound of one that came is longer
// by the time that its request took. An entry that a new leader brought
// back is nobody's. If a watch reports the entries, a client is also excused while the store does not
// answer it in time: without a fault a simulated store is never that late, and a real one only on a
// machine that is too busy.
type cleanup struct {
	header   history.Header
	state    *state
	faultLog *faultLog

	excuses   []excuse   // of this instant
	over      []*hold    // tries refused and holds released in this instant
	late      []leftover // keys that were set in this instant for a token that was given up before
	leftovers []leftover
	due       history.Time // of the earliest leftover

	askers map[asker]int // places in latest
	latest []carriedOut  // the latest requests by which keys were set

	unconfirmed []givenUpToken           // if a watch reports the keys
	unanswered  map[*client]history.Time // when a real store last did not answer a client
	silent      map[int]history.Time     // by node: when it, or the store (0), last answered its watch late

	given     int // up
	confirmed int // of these, if a watch reports the keys
	doubts    int // keys of which a watch does not say whether they were deleted in time
	clean     int // tokens without leftovers, and leftovers that were deleted in time
	breaches  violations
}

// givenUpToken is a token that was given up, at a time up to which the changes of some nodes are not
// recorded yet.
type givenUpToken struct {
	client *client
	at     history.Time
	nodes  nodes // whose changes are not recorded yet
	clean  nodes // whose changes are
	blind  bool  // those of some will never be
}

// leftover is a key that has to be deleted soon.
type leftover struct {
	client   *client
	node     int // 0: the store
	resource string
	token    string
	asked    history.Time // when the request was sent that set it, or that was to delete it
	late     bool         // it was set after its token was given up
	endless  bool         // it has never had an expiry
	twice    bool         // by a request that its node had carried out before
	since    history.Time
	due      history.Time
	looks    int  // of a watch, since then
	silent   bool // the node, or the store, has answered its watch late meanwhile
}

// requiredLooks is how often in a row a watch has to see a node, or the store, before a key counts as
// kept. None of the looks may take longer than this part of the bound, with the way through the machine
// of the clients. A client needs several requests to delete a key, connects again, and repeats them. On
// a machine that is too busy each may take as long as the bound; but then so do the looks.
const requiredLooks = 10

// forever is after every instant of a history.
const forever history.Time = math.MaxInt64

func newCleanup(h history.Header, l *state, n *faultLog) propertyChecker {
	return &cleanup{header: h, state: l, faultLog: n, due: forever, askers: make(map[asker]int, 16), latest: make([]carriedOut, 0, 16)}
}

// wants nothing if the history has no keys, or no bound for them.
func (c *cleanup) wants() kinds {
	if c.header.Bounds.Cleanup == 0 || !c.header.Entries && (!c.header.Keys || c.header.Keepers < 0) {
		return 0
	}
	return kindSet(history.EntrySet, history.EntryDeleted, history.EntryGone, history.EntriesSeen, history.Leader) | kindSet(history.Refused, history.Released, history.KeySet, history.KeyExtended, history.KeyGone, history.NodeDown, history.LinkDown, history.Pause, history.Resume, history.Kill)
}

func (c *cleanup) observe(f *fact) {
	if f.Time > c.due {
		c.expire(f.Time)
	}
	switch f.Kind {
	case history.Refused, history.Released:
		if c.header.Entries && c.header.Watched && strings.HasPrefix(f.Reason, history.NoAnswer) {
			if c.unanswered == nil {
				c.unanswered = map[*client]history.Time{}
			}
			c.unanswered[f.client] = f.Time
			c.excuses = append(c.excuses, excuse{f.Kind, 0, f.client, f.Time})
		}
		if f.hold != nil {
			c.given++
			c.over = append(c.over, f.hold)
		}
	case history.KeySet:
		c.keySet(f)
	case history.KeyExtended:
		for i := range c.leftovers {
			if l := &c.leftovers[i]; l.node == f.Node && l.token == f.Token && l.resource == f.Resource {
				l.endless = false
			}
		}
	case history.KeyGone:
		c.gone(f, f.Node)
	case history.EntrySet:
		if f.Reason != history.RolledBack {
			c.keySet(f)
		}
	case history.EntryDeleted, history.EntryGone:
		c.gone(f, 0)
	case history.EntriesSeen:
		c.answered(f)
		c.looked(f)
		c.confirm(f)
		c.expire(f.Time)
	case history.Leader, history.NodeDown, history.LinkDown, history.Kill, history.Pause, history.Resume:
		c.excuses = append(c.excuses, excuse{f.Kind, f.Node, f.client, f.Time})
	}
}

// gone notes that a node, or the store, no longer keeps a key. Tokens in a store are unique: its
// own events need not name the resource.
func (c *cleanup) gone(f *fact, node int) {
	if len(c.leftovers)+len(c.late) == 0 {
		return
	}
	gone := func(l *leftover) bool {
		return l.node == node && l.token == f.Token && (l.resource == f.Resource || f.Kind == history.EntryGone)
	}
	for i := range c.leftovers {
		if l := &c.leftovers[i]; gone(l) {
			if c.header.Watched && f.Time > l.due {
				c.doubts++
			} else {
				c.clean++
			}
		}
	}
	c.leftovers, c.late = without(c.leftovers, gone), without(c.late, gone)
}

// answered excuses the keys on a node, or the entries in the store, that has answered its watch late: it
// has answered its clients no sooner, so nobody can blame them for a key that it kept meanwhile.
func (c *cleanup) answered(f *fact) {
	if c.prompt(f) {
		return
	}
	if c.silent == nil {
		c.silent = map[int]history.Time{}
	}
	c.silent[f.Node] = f.Time
	for i := range c.leftovers {
		if l := &c.leftovers[i]; l.node == f.Node && f.waited <= l.due {
			l.silent = true
		}
	}
}

// prompt reports whether a node, or the store, has answered its watch as promptly as a client needs it to.
func (c *cleanup) prompt(f *fact) bool {
	return f.silence() <= c.header.Bounds.Cleanup/requiredLooks
}

// looked notes that a watch has seen a node, or the store, since keys were left there.
func (c *cleanup) looked(f *fact) {
	for i := range c.leftovers {
		switch l := &c.leftovers[i]; {
		case l.node != f.Node || f.Sent < l.since:
		case c.prompt(f):
			l.looks++
		default:
			l.looks = 0
		}
	}
}

// confirm notes up to when the changes of a node's keys are recorded.
func (c *cleanup) confirm(f *fact) {
	if f.Node == 0 {
		return
	}
	c.unconfirmed = without(c.unconfirmed, func(g *givenUpToken) bool {
		switch {
		case !g.nodes.has(f.Node):
		case f.Since > g.at:
			g.nodes, g.blind = g.nodes.without(f.Node), true
		case f.Sent > g.at:
			g.nodes, g.clean = g.nodes.without(f.Node), g.clean.with(f.Node)
		}
		if g.nodes != 0 {
			return false
		}
		if g.clean != 0 && !g.blind {
			c.confirmed++
		}
		return true
	})
}

// excuseNodes leaves nodes out of what has to be confirmed for a client, or for all.
func (c *cleanup) excuseNodes(who *client, excused nodes) {
	for i := range c.unconfirmed {
		if g := &c.unconfirmed[i]; who == nil || g.client == who {
			g.nodes &^= excused
		}
	}
}

// excuse is an event after which keys may stay. It counts at the end of the instant, after the
// deletions of the instant.
type excuse struct {
	kind   history.Kind
	node   int
	client *client
	at     history.Time
}

func (c *cleanup) excuse(e excuse) {
	switch e.kind {
	case history.NodeDown:
		c.excuseNodes(nil, node(e.node))
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return l.node == e.node || l.node == 0 })
	case history.LinkDown:
		c.excuseNodes(e.client, node(e.node))
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return (l.node == e.node || l.node == 0) && l.client == e.client })
	case history.Leader:
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return l.node == 0 })
	case history.Refused, history.Released:
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return l.client == e.client })
	case history.Kill:
		c.forgive(e.client)
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return l.client == e.client })
	default:
		c.forgive(e.client)
		c.adjourn(e.client, e.at)
	}
}

// forgive leaves the client's tokens out of what has to be confirmed.
func (c *cleanup) forgive(who *client) {
	c.unconfirmed = without(c.unconfirmed, func(g *givenUpToken) bool { return g.client == who })
}

// keySet notes a key that is set for a token which was given up, as far as is known before
// the end of the instant. A key that no client set came back with its node.
func (c *cleanup) keySet(f *fact) {
	if f.Client == 0 {
		return
	}
	twice := c.setTwice(f)
	if givenUp(f.about, f.Token, f.Time) {
		c.late = append(c.late, leftover{client: f.client, node: f.Node, resource: f.Resource, token: f.Token, since: f.Time, asked: f.Sent, late: true, endless: f.Detail == history.NoExpiry, twice: twice})
	}
}

// asker is a client that has a node set keys of a resource.
type asker struct{ client, node, resource int }

// carriedOut is a request by which a node has set a key.
type carriedOut struct {
	token string
	sent  history.Time
}

// setTwice reports whether the node has set the key by the same request before. It remembers this
// request.
func (c *cleanup) setTwice(f *fact) bool {
	if f.Kind == history.EntrySet {
		return false // a store has one entry of a token
	}
	who := asker{f.Client, f.Node, f.about.number}
	i, known := c.askers[who]
	if !known {
		i = len(c.latest)
		c.askers[who], c.latest = i, append(c.latest, carriedOut{})
	}
	last, request := &c.latest[i], carriedOut{f.Token, f.Sent}
	again := *last == request
	*last = request
	return again
}

func (*cleanup) settles() kinds {
	return kindSet(history.Refused, history.Released, history.KeySet, history.EntrySet, history.Leader,
		history.NodeDown, history.LinkDown, history.Kill, history.Pause, history.Resume)
}

// givenUp reports whether the token was given up before this instant, or belongs to no try.
func givenUp(r *resource, token string, now history.Time) bool {
	h := r.find(token)
	return h == nil || h.over && h.ended < now
}

// settle notes the keys that were left behind in the instant.
func (c *cleanup) settle() {
	for _, e := range c.excuses {
		c.excuse(e)
	}
	for _, h := range c.over {
		if h.keys.set == 0 && !h.keys.entry.there {
			c.clean++
		}
		asked := h.ended // when the nodes were asked to delete
		if h.letGo {
			asked = h.release.at
		}
		if c.watchesKeys() {
			c.await(h, asked)
		}
		if h.keys.entry.there {
			c.leave(leftover{client: h.client, resource: h.resource.name, token: h.token, asked: asked, since: h.ended})
		}
		for rest := h.keys.set; rest != 0; {
			n := rest.first()
			rest = rest.without(n)
			c.leave(leftover{client: h.client, node: n, resource: h.resource.name, token: h.token, endless: h.keys.endless.has(n), asked: asked, since: h.ended})
		}
	}
	for _, l := range c.late {
		if givenUp(c.state.resource(l.resource), l.token, l.since) {
			c.leave(l)
		}
	}
	c.excuses, c.over, c.late = c.excuses[:0], c.over[:0], c.late[:0]
}

// watchesKeys reports whether a watch reports the nodes' keys.
func (c *cleanup) watchesKeys() bool { return c.header.Watched && !c.header.Entries }

// await notes the nodes of which a watch has to confirm that they do not keep the token.
func (c *cleanup) await(h *hold, asked history.Time) {
	g := givenUpToken{client: h.client, at: h.ended}
	for rest := electorateOf(c.header).voters(); rest != 0; {
		n := rest.first()
		rest = rest.without(n)
		if !c.excused(h.client, n, asked) {
			g.nodes = g.nodes.with(n)
		}
	}
	if g.nodes != 0 && !h.client.paused {
		c.unconfirmed = append(c.unconfirmed, g)
	}
}

// excused reports whether a client may leave a key on a node that it asked for the deletion then.
func (c *cleanup) excused(who *client, node int, asked history.Time) bool {
	return who.dead || who.cut.has(node) || c.state.down.has(node) ||
		since(who.mended, node, asked) || since(c.state.started, node, asked)
}

func (c *cleanup) leave(l leftover) {
	if at, ever := c.unanswered[l.client]; ever && at >= l.asked {
		return
	}
	if l.node == 0 && !c.state.undisturbed(l.client, l.asked) || c.excused(l.client, l.node, l.asked) {
		return
	}
	l.due, l.silent = l.since.Add(c.header.Bounds.Cleanup), since(c.silent, l.node, l.asked)
	if l.late && l.node == 0 {
		l.due += l.since - l.asked
	}
	if l.client.paused {
		l.due = forever
	}
	c.leftovers = append(c.leftovers, l)
	c.due = min(c.due, l.due)
}

// since reports whether something has happened to the node since an instant.
func since(last map[int]history.Time, node int, then history.Time) bool {
	at, ever := last[node]
	return ever && at >= then
}

// adjourn restarts the client's bounds when it resumes.
func (c *cleanup) adjourn(who *client, now history.Time) {
	for i := range c.leftovers {
		if l := &c.leftovers[i]; l.client == who {
			l.due = forever
			if !who.paused {
				l.due = now.Add(c.header.Bounds.Cleanup)
			}
			c.due = min(c.due, l.due)
		}
	}
}

// expire reports the keys that should have been deleted before now. Of those that a watch reports,
// no more is known than what was seen.
func (c *cleanup) expire(now history.Time) {
	kept := c.leftovers[:0]
	c.due = forever
	for _, l := range c.leftovers {
		late := l.due < now
		if c.header.Watched {
			late = l.due < c.state.seenOf(l.node) && l.looks >= requiredLooks
		}
		switch {
		case late && l.silent:
			c.doubts++
			continue
		case late:
			c.violate(l)
			continue
		}
		kept = append(kept, l)
		c.due = min(c.due, l.due)
	}
	c.leftovers = kept
}

func (c *cleanup) violate(l leftover) {
	c.breaches.add(func() Finding {
		key := Event{Role: RoleLoss, Client: l.client.number, Nodes: oneNode(l.node), Resource: l.resource, Token: l.token}
		causes := unbroken(Event{Role: RoleLoss, Text: "the lock itself did not delete the key"})
		if l.endless {
			causes[0].Evidence = append(causes[0].Evidence, key.say("client %d's key on node %d (token %s) never got an expiry", key.Client, l.node, short(l.token)))
		}
		if l.twice {
			twice := key
			twice.From = l.asked
			causes = broken(ArrivesOnce, twice.say("node %d has set client %d's key twice, by the request that was sent at %s", l.node, key.Client, at(l.asked)))
		}
		where, what, reached := fmt.Sprintf("node %d", l.node), "key", "it was in reach"
		if l.node == 0 {
			where, what, reached = "the store", "entry", "nothing was in its way"
		}
		key.From, key.To = l.since, l.due
		return Finding{
			Events: []Event{key.say("%s still kept the %s of %s at %s, %v after client %d had given it up, though %s all that time",
				where, what, lockOf(l.resource, l.token), at(l.due), l.due.Sub(l.since), key.Client, reached)},
			Causes: causes,
			Where:  &Place{Resource: l.resource, Client: l.client.number, From: l.since, To: l.due},
		}
	})
}

func (c *cleanup) finding(end history.Time) Finding {
	if end > c.due {
		c.expire(end)
	}
	switch {
	case c.breaches.count > 0:
		return c.breaches.violated()
	case c.header.Bounds.Cleanup == 0:
		return notExercised(NotApplicable, noBound)
	case !c.header.Entries && c.header.Keepers < 0:
		return notExercised(NotApplicable, keepsNothing)
	case !c.header.Entries && !c.header.Keys:
		return notExercised(NotApplicable, noKeys)
	case c.given == 0:
		return notExercised(NotApplicable, "nothing was given up")
	case c.doubtful(end):
		return unseen(c.unseen())
	case c.clean+c.confirmed == 0:
		return notExercised(Unknown, "no key that was left was on a node that stayed in reach for long enough")
	}
	gone := Event{Role: RoleAccess}
	return because(Holds, gone.say("%s given up, and no key of them was left for longer than %v on a node in reach", counted(c.cleared(), "token"), c.header.Bounds.Cleanup))
}

// cleared is the number of tokens that were given up and of which it is known that they are gone.
func (c *cleanup) cleared() int {
	if c.watchesKeys() {
		return c.confirmed
	}
	return c.given
}

func (c *cleanup) unseen() string {
	if c.watchesKeys() {
		return keysUnseen
	}
	return entriesUnseen
}

// doubtful reports whether a watch leaves open if a key, or an entry, was kept.
func (c *cleanup) doubtful(end history.Time) bool {
	if !c.header.Watched {
		return false
	}
	for i := range c.leftovers {
		if c.leftovers[i].due < end {
			return true
		}
	}
	if c.watchesKeys() {
		return c.doubts > 0 || c.confirmed == 0
	}
	return c.doubts > 0 || c.state.seenOf(0) == 0
}

// without removes the elements of a list for which so is true, in order.
func without[T any](list []T, so func(*T) bool) []T {
	kept := list[:0]
	for i := range list {
		if !so(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	clear(list[len(kept):])
	return kept
}
