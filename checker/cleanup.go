package checker

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
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
// client's way to the store meanwhile: see [timeline.Timeline.Undisturbed]. A client that waits for an entry
// which may still come looks at longer and longer intervals, so the bound of one that came is longer
// by the time that its request took. An entry that a new leader brought
// back is nobody's. If a watch reports the entries, a client is also excused while the store does not
// answer it in time: without a fault a simulated store is never that late, and a real one only on a
// machine that is too busy.
type cleanup struct {
	header   history.Header
	timeline *timeline.Timeline

	excuses   []excuse         // of this instant
	over      []*timeline.Hold // tries refused and holds released in this instant
	late      []leftover       // keys that were set in this instant for a token that was given up before
	leftovers []leftover
	due       history.Time // of the earliest leftover

	requests timeline.PerResource[[][]carriedOut] // by node: the latest of each client by which its key was set

	unconfirmed []givenUpToken                    // if a watch reports the keys
	unanswered  map[*timeline.Client]history.Time // when a real store last did not answer a client
	silent      map[int]history.Time              // by node: when it, or the store (0), last answered its watch late

	given     int // up
	confirmed int // of these, if a watch reports the keys
	doubts    int // keys of which a watch does not say whether they were deleted in time
	clean     int // tokens without leftovers, and leftovers that were deleted in time
	breaches  violations
}

// givenUpToken is a token that was given up, at a time up to which the changes of some nodes are not
// recorded yet.
type givenUpToken struct {
	client *timeline.Client
	at     history.Time
	nodes  timeline.Nodes // whose changes are not recorded yet
	clean  timeline.Nodes // whose changes are
	blind  bool           // those of some will never be
}

// leftover is a key that has to be deleted soon.
type leftover struct {
	client   *timeline.Client
	node     int // 0: the store
	resource string
	token    string
	asked    history.Time // when the request was sent that set it, or when a request to delete it was sent, at the earliest
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

func newCleanup(line *timeline.Timeline, _ *shared) propertyChecker {
	return &cleanup{header: line.Header, timeline: line, due: timeline.Forever}
}

// Wants nothing if the history has no keys, or no bound for them.
func (c *cleanup) Wants() timeline.Kinds {
	if c.header.Bounds.Cleanup == 0 || !c.header.Entries && (!c.header.Keys || c.header.Keepers < 0) {
		return 0
	}
	return timeline.KindSet(history.EntrySet, history.EntryDeleted, history.EntryGone, history.EntriesSeen, history.Leader) | timeline.KindSet(history.Refused, history.Released, history.KeySet, history.KeyExtended, history.KeyGone, history.NodeDown, history.LinkDown, history.Pause, history.Resume, history.Kill)
}

func (c *cleanup) Observe(f *timeline.Fact) {
	if f.Time > c.due {
		c.expire(f.Time)
	}
	switch f.Kind {
	case history.Refused, history.Released:
		if c.header.Entries && c.header.Watched && strings.HasPrefix(f.Reason, history.NoAnswer) {
			if c.unanswered == nil {
				c.unanswered = map[*timeline.Client]history.Time{}
			}
			c.unanswered[f.Actor] = f.Time
			c.excuses = append(c.excuses, excuse{f.Kind, 0, f.Actor, f.Time})
		}
		if f.Hold != nil {
			c.given++
			c.over = append(c.over, f.Hold)
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
		c.excuses = append(c.excuses, excuse{f.Kind, f.Node, f.Actor, f.Time})
	}
}

// gone notes that a node, or the store, no longer keeps a key. Tokens in a store are unique: its
// own events need not name the resource.
func (c *cleanup) gone(f *timeline.Fact, node int) {
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
	c.leftovers, c.late = timeline.Without(c.leftovers, gone), timeline.Without(c.late, gone)
}

// answered excuses the keys on a node, or the entries in the store, that has answered its watch late: it
// has answered its clients no sooner, so nobody can blame them for a key that it kept meanwhile.
func (c *cleanup) answered(f *timeline.Fact) {
	if c.prompt(f) {
		return
	}
	if c.silent == nil {
		c.silent = map[int]history.Time{}
	}
	c.silent[f.Node] = f.Time
	for i := range c.leftovers {
		if l := &c.leftovers[i]; l.node == f.Node && f.WaitedSince <= l.due {
			l.silent = true
		}
	}
}

// prompt reports whether a node, or the store, has answered its watch as promptly as a client needs it to.
func (c *cleanup) prompt(f *timeline.Fact) bool {
	return f.Silence() <= c.header.Bounds.Cleanup/requiredLooks
}

// looked notes that a watch has seen a node, or the store, since keys were left there.
func (c *cleanup) looked(f *timeline.Fact) {
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
func (c *cleanup) confirm(f *timeline.Fact) {
	if f.Node == 0 {
		return
	}
	c.unconfirmed = timeline.Without(c.unconfirmed, func(g *givenUpToken) bool {
		switch {
		case !g.nodes.Has(f.Node):
		case f.Since > g.at:
			g.nodes, g.blind = g.nodes.Without(f.Node), true
		case f.Sent > g.at:
			g.nodes, g.clean = g.nodes.Without(f.Node), g.clean.With(f.Node)
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
func (c *cleanup) excuseNodes(who *timeline.Client, excused timeline.Nodes) {
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
	client *timeline.Client
	at     history.Time
}

func (c *cleanup) excuse(e excuse) {
	switch e.kind {
	case history.NodeDown:
		c.excuseNodes(nil, timeline.Node(e.node))
		c.leftovers = timeline.Without(c.leftovers, func(l *leftover) bool { return l.node == e.node || l.node == 0 })
	case history.LinkDown:
		c.excuseNodes(e.client, timeline.Node(e.node))
		c.leftovers = timeline.Without(c.leftovers, func(l *leftover) bool { return (l.node == e.node || l.node == 0) && l.client == e.client })
	case history.Leader:
		c.leftovers = timeline.Without(c.leftovers, func(l *leftover) bool { return l.node == 0 })
	case history.Refused, history.Released:
		c.leftovers = timeline.Without(c.leftovers, func(l *leftover) bool { return l.client == e.client })
	case history.Kill:
		c.forgive(e.client)
		c.leftovers = timeline.Without(c.leftovers, func(l *leftover) bool { return l.client == e.client })
	default:
		c.forgive(e.client)
		c.adjourn(e.client, e.at)
	}
}

// forgive leaves the client's tokens out of what has to be confirmed.
func (c *cleanup) forgive(who *timeline.Client) {
	c.unconfirmed = timeline.Without(c.unconfirmed, func(g *givenUpToken) bool { return g.client == who })
}

// keySet notes a key that is set for a token which was given up, as far as is known before
// the end of the instant. A key that no client set came back with its node.
func (c *cleanup) keySet(f *timeline.Fact) {
	if f.Client == 0 {
		return
	}
	twice := c.setTwice(f)
	if givenUp(f.Locked, f.Token, f.Time) {
		c.late = append(c.late, leftover{client: f.Actor, node: f.Node, resource: f.Resource, token: f.Token, since: f.Time, asked: f.Sent, late: true, endless: f.Detail == history.NoExpiry, twice: twice})
	}
}

// carriedOut is a request of a client by which a node has set a key.
type carriedOut struct {
	client int
	token  string
	sent   history.Time
}

// setTwice reports whether the node has set the key by the same request before. It remembers this
// request.
func (c *cleanup) setTwice(f *timeline.Fact) bool {
	if f.Kind == history.EntrySet || c.header.Watched {
		return false // a store has one entry of a token, and a watch knows only when a value was first sent
	}
	nodes, request := c.requests.Of(f.Locked), carriedOut{f.Client, f.Token, f.Sent}
	if f.Node >= len(*nodes) {
		*nodes = append(*nodes, make([][]carriedOut, max(c.header.Nodes, f.Node)+1-len(*nodes))...)
	}
	all := (*nodes)[f.Node]
	for i := range all {
		if last := &all[i]; last.client == f.Client {
			again := *last == request
			*last = request
			return again
		}
	}
	(*nodes)[f.Node] = append(all, request)
	return false
}

func (*cleanup) Settles() timeline.Kinds {
	return timeline.KindSet(history.Refused, history.Released, history.KeySet, history.EntrySet, history.Leader,
		history.NodeDown, history.LinkDown, history.Kill, history.Pause, history.Resume)
}

// givenUp reports whether the token was given up before this instant, or belongs to no try.
func givenUp(r *timeline.Resource, token string, now history.Time) bool {
	h := r.Find(token)
	return h == nil || h.Over && h.EndedAt < now
}

// Settle notes the keys that were left behind in the instant.
func (c *cleanup) Settle() {
	for _, e := range c.excuses {
		c.excuse(e)
	}
	for _, h := range c.over {
		if h.Keys.Set == 0 && !h.Keys.Entry.There {
			c.clean++
		}
		asked := h.Acquire.At // when the nodes were asked to delete, at the earliest
		if h.ReleaseCalled {
			asked = h.Release.At
		}
		if c.watchesKeys() {
			c.await(h, asked)
		}
		if h.Keys.Entry.There {
			c.leave(leftover{client: h.Client, resource: h.Resource.Name, token: h.Token, asked: asked, since: h.EndedAt})
		}
		for rest := h.Keys.Set; rest != 0; {
			n := rest.First()
			rest = rest.Without(n)
			c.leave(leftover{client: h.Client, node: n, resource: h.Resource.Name, token: h.Token, endless: h.Keys.Endless.Has(n), asked: asked, since: h.EndedAt})
		}
	}
	for _, l := range c.late {
		if givenUp(c.timeline.Resource(l.resource), l.token, l.since) {
			c.leave(l)
		}
	}
	c.excuses, c.over, c.late = c.excuses[:0], c.over[:0], c.late[:0]
}

// watchesKeys reports whether a watch reports the nodes' keys.
func (c *cleanup) watchesKeys() bool { return c.header.Watched && !c.header.Entries }

// await notes the nodes of which a watch has to confirm that they do not keep the token.
func (c *cleanup) await(h *timeline.Hold, asked history.Time) {
	g := givenUpToken{client: h.Client, at: h.EndedAt}
	for rest := timeline.ElectorateOf(c.header).Nodes(); rest != 0; {
		n := rest.First()
		rest = rest.Without(n)
		if !c.excused(h.Client, n, asked) {
			g.nodes = g.nodes.With(n)
		}
	}
	if g.nodes != 0 && !h.Client.Paused {
		c.unconfirmed = append(c.unconfirmed, g)
	}
}

// excused reports whether a client may leave a key on a node that it asked for the deletion then.
func (c *cleanup) excused(who *timeline.Client, node int, asked history.Time) bool {
	return who.Dead || who.Unlinked.Has(node) || c.timeline.Down.Has(node) ||
		timeline.HappenedSince(who.Relinked, node, asked) || timeline.HappenedSince(c.timeline.Started, node, asked)
}

func (c *cleanup) leave(l leftover) {
	if at, ever := c.unanswered[l.client]; ever && at >= l.asked {
		return
	}
	if l.node == 0 && !c.timeline.Undisturbed(l.client, l.asked) || c.excused(l.client, l.node, l.asked) {
		return
	}
	l.due, l.silent = l.since.Add(c.header.Bounds.Cleanup), timeline.HappenedSince(c.silent, l.node, l.asked)
	if l.late && l.node == 0 {
		l.due += l.since - l.asked
	}
	if l.client.Paused {
		l.due = timeline.Forever
	}
	c.leftovers = append(c.leftovers, l)
	c.due = min(c.due, l.due)
}

// adjourn restarts the client's bounds when it resumes.
func (c *cleanup) adjourn(who *timeline.Client, now history.Time) {
	for i := range c.leftovers {
		if l := &c.leftovers[i]; l.client == who {
			l.due = timeline.Forever
			if !who.Paused {
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
	c.due = timeline.Forever
	for _, l := range c.leftovers {
		late := l.due < now
		if c.header.Watched {
			late = l.due < c.timeline.SeenUpTo(l.node) && l.looks >= requiredLooks
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
		key := Event{Role: RoleLoss, Client: l.client.Number, Nodes: oneNode(l.node), Resource: l.resource, Token: l.token}
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
			Where:  &Place{Resource: l.resource, Client: l.client.Number, From: l.since, To: l.due},
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
	return c.doubts > 0 || c.timeline.SeenUpTo(0) == 0
}
