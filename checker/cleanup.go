package checker

import (
	"math"

	"github.com/lockstorm/lockstorm/history"
)

// Cleanup says that what is given up leaves no keys behind.
const Cleanup Property = "cleanup"

// cleanup judges whether what is given up leaves keys behind: once a try has
// been refused, or a release has returned, no node keeps the token's key for
// longer than the bound. The bound counts from the end of the call, or from
// when the key was set if that came later, and anew when the client resumes
// from a pause. A node that was down, or out of the client's reach, meanwhile is
// let off, and so is a client that has died, a key that was to be deleted over a
// link that a fault held, and one that is set after all is over by a request that
// was under way during such a fault: what is held back can come at any time.
type cleanup struct {
	header   history.Header
	state    *state
	faultLog *faultLog

	excuses   []excuse   // of this instant
	over      []*hold    // that were given up in this instant
	late      []leftover // keys that were set in this instant, for a token that had been given up
	leftovers []leftover
	due       history.Time // of the earliest

	latest map[asker]carriedOut // by which a key was set

	given    int // up
	clean    int // tokens that left nothing, and keys that were gone in time
	breaches violations
}

// leftover is a key that has to be gone soon.
type leftover struct {
	client   *client
	node     int
	resource string
	token    string
	asked    history.Time // when the request was sent that set it, or that was to delete it
	twice    bool         // by a request that its node had carried out before
	since    history.Time
	due      history.Time
}

// forever is after every instant of a history.
const forever history.Time = math.MaxInt64

func newCleanup(h history.Header, l *state, n *faultLog) propertyChecker {
	return &cleanup{header: h, state: l, faultLog: n, due: forever, latest: map[asker]carriedOut{}}
}

// wants nothing without the keys, or a bound to hold them against.
func (c *cleanup) wants() kinds {
	if !c.header.Keys || c.header.Bounds.Cleanup == 0 || c.header.Keepers < 0 {
		return 0
	}
	return kindSet(history.Refused, history.Released, history.KeySet, history.KeyGone, history.NodeDown, history.LinkDown, history.Pause, history.Resume, history.Kill)
}

func (c *cleanup) observe(f *fact) {
	if f.Time > c.due {
		c.expire(f.Time)
	}
	switch f.Kind {
	case history.Refused, history.Released:
		if f.hold != nil {
			c.given++
			c.over = append(c.over, f.hold)
		}
	case history.KeySet:
		c.keySet(f)
	case history.KeyGone:
		gone := func(l *leftover) bool { return l.node == f.Node && l.token == f.Token && l.resource == f.Resource }
		before := len(c.leftovers)
		c.leftovers, c.late = without(c.leftovers, gone), without(c.late, gone)
		c.clean += before - len(c.leftovers)
	case history.NodeDown, history.LinkDown, history.Kill, history.Pause, history.Resume:
		c.excuses = append(c.excuses, excuse{f.Kind, f.Node, f.client, f.Time})
	}
}

// excuse is why keys may stay: it counts at the end of the instant, when those that went
// away in it are gone.
type excuse struct {
	kind   history.Kind
	node   int
	client *client
	at     history.Time
}

func (c *cleanup) excuse(e excuse) {
	switch e.kind {
	case history.NodeDown:
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return l.node == e.node })
	case history.LinkDown:
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return l.node == e.node && l.client == e.client })
	case history.Kill:
		c.leftovers = without(c.leftovers, func(l *leftover) bool { return l.client == e.client })
	default:
		c.adjourn(e.client, e.at)
	}
}

// keySet takes down a key of a token that nobody holds or tries any more, as far as the
// instant has been told. One that nobody set has come back with its node: that is not the
// client's doing.
func (c *cleanup) keySet(f *fact) {
	if f.Client == 0 {
		return
	}
	twice := c.setTwice(f)
	if c.givenUp(f.Resource, f.Token, f.Time) {
		c.late = append(c.late, leftover{client: f.client, node: f.Node, resource: f.Resource, token: f.Token, since: f.Time, asked: f.Sent, twice: twice})
	}
}

// asker is who has a node set the keys of a resource.
type asker struct {
	client, node int
	resource     string
}

// carriedOut is a request that a node has carried out: it has set a key.
type carriedOut struct {
	token string
	sent  history.Time
}

// setTwice reports whether the latest request by which the node has set a key for the
// client is the same, and keeps in mind that it is now.
func (c *cleanup) setTwice(f *fact) bool {
	who, request := asker{f.Client, f.Node, f.Resource}, carriedOut{f.Token, f.Sent}
	again := c.latest[who] == request
	c.latest[who] = request
	return again
}

func (*cleanup) settles() kinds {
	return kindSet(history.Refused, history.Released, history.KeySet,
		history.NodeDown, history.LinkDown, history.Kill, history.Pause, history.Resume)
}

// givenUp reports whether the token was given up before this instant, or is of no try.
func (c *cleanup) givenUp(resource, token string, now history.Time) bool {
	h := c.state.resource(resource).find(token)
	return h == nil || h.over && h.ended < now
}

// settle takes down what was left behind in the instant that is over.
func (c *cleanup) settle() {
	for _, e := range c.excuses {
		c.excuse(e)
	}
	for _, h := range c.over {
		if h.keys.set == 0 {
			c.clean++
		}
		asked := h.ended // when the nodes were asked to delete
		if h.letGo {
			asked = h.release.at
		}
		for rest := h.keys.set; rest != 0; {
			n := rest.first()
			rest = rest.without(n)
			c.leave(leftover{client: h.client, node: n, resource: h.resource.name, token: h.token, asked: asked, since: h.ended})
		}
	}
	for _, l := range c.late {
		if c.givenUp(l.resource, l.token, l.since) {
			c.leave(l)
		}
	}
	c.excuses, c.over, c.late = c.excuses[:0], c.over[:0], c.late[:0]
}

func (c *cleanup) leave(l leftover) {
	if l.client.dead || l.client.cut.has(l.node) || c.state.down.has(l.node) ||
		since(l.client.mended, l.node, l.asked) || since(c.state.started, l.node, l.asked) {
		return
	}
	l.due = l.since.Add(c.header.Bounds.Cleanup)
	if l.client.paused {
		l.due = forever
	}
	c.leftovers = append(c.leftovers, l)
	c.due = min(c.due, l.due)
}

// since reports whether something has happened to the node since then.
func since(last map[int]history.Time, node int, then history.Time) bool {
	at, ever := last[node]
	return ever && at >= then
}

// adjourn lets the client's bounds begin anew when it resumes.
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

// expire reports the keys that should have been gone before now.
func (c *cleanup) expire(now history.Time) {
	kept := c.leftovers[:0]
	c.due = forever
	for _, l := range c.leftovers {
		if l.due < now {
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
		causes := unbroken(c.faultLog, Statement{Kind: LockLeftKey})
		if l.twice {
			causes = broken(ArrivesOnce, Statement{Kind: SentTwice, Node: l.node, Client: l.client.number, At: l.asked})
		}
		return Finding{
			Events: []Statement{{Kind: KeyLeft, Node: l.node, Client: l.client.number, Resource: l.resource, Token: l.token, At: l.due, For: l.due.Sub(l.since)}},
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
		return because(NotApplicable, Statement{Kind: NoBound})
	case c.header.Keepers < 0:
		return because(NotApplicable, Statement{Kind: KeepsNothing})
	case !c.header.Keys:
		return because(NotApplicable, Statement{Kind: NoKeys})
	case c.given == 0:
		return because(NotApplicable, Statement{Kind: NothingGivenUp})
	case c.clean == 0:
		return because(Unknown, Statement{Kind: NoKeyTested})
	}
	return because(Holds, Statement{Kind: KeysGone, Count: c.given, Bound: c.header.Bounds.Cleanup})
}

// without takes out of a list what is so, and keeps the order.
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
