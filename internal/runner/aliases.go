package runner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// aliases is a sink for the history of a foreign lock. What such a lock keeps on the nodes, and
// under which name, is its own affair: here the keys are given the names that they have in
// the history, those of the call during which the client had sent the request for them.
//
// A call may try several times before it is granted the lock, with another value each time.
// The last is that of the hold; what is there of an earlier one is told under a token of its
// own, which nobody holds, as soon as there is a later one.
type aliases struct {
	next  history.Sink
	calls map[int][]*lockCall // by client, the oldest first
	keys  map[keyLocation]*aliasedKey
	count map[tokenOnNode]int // keys that are there; a lock may keep several on a node
}

// lockCall is a call of a client for the lock.
type lockCall struct {
	resource, token string
	began           history.Time
	granted         bool

	value   string            // of the try under way, or of the hold; empty: no key has been set
	sent    history.Time      // the first request that set it
	earlier map[string]string // tokens, by the values of earlier tries
}

// keyLocation is where a key is, by its own name.
type keyLocation struct {
	node int
	name string
}

// aliasedKey is whose a key is, or was when it was there last.
type aliasedKey struct {
	call         *lockCall
	value, token string
	exists       bool
}

// tokenOnNode is what a node keeps under a token.
type tokenOnNode struct {
	node            int
	resource, token string
}

func newAliases(next history.Sink) *aliases {
	return &aliases{next: next, calls: map[int][]*lockCall{}, keys: map[keyLocation]*aliasedKey{}, count: map[tokenOnNode]int{}}
}

// Record implements [history.Sink].
func (a *aliases) Record(e *history.Event) {
	switch e.Kind {
	case history.Acquire:
		a.calls[e.Client] = append(a.calls[e.Client], &lockCall{
			resource: e.Resource, token: e.Token, began: e.Time, earlier: map[string]string{},
		})
	case history.Granted:
		if c := a.last(e.Client, e.Time); c != nil && c.token == e.Token {
			c.granted = true
		}
	case history.KeySet:
		a.set(e)
		return
	case history.KeyExtended:
		if k, known := a.keys[keyLocation{e.Node, e.Resource}]; known {
			a.pass(e, k)
		}
		return
	case history.KeyGone:
		if k, known := a.keys[keyLocation{e.Node, e.Resource}]; known {
			a.vanished(e, k)
		}
		return
	}
	a.next.Record(e)
}

// last is the call of a client that had begun last at a time; nil: none had.
func (a *aliases) last(client int, at history.Time) *lockCall {
	for _, c := range slices.Backward(a.calls[client]) {
		if c.began <= at {
			return c
		}
	}
	return nil
}

// set tells that a node keeps something of a call. A key that a node has taken back is that
// of whom it was; one that was set before all calls is no lock's.
func (a *aliases) set(e *history.Event) {
	at := keyLocation{e.Node, e.Resource}
	if e.Client != 0 {
		c := a.last(e.Client, e.Sent)
		if c == nil {
			delete(a.keys, at)
			return
		}
		a.keys[at] = &aliasedKey{call: c, value: e.Token, token: a.tokenOf(c, e)}
	}
	if k, known := a.keys[at]; known {
		a.appeared(e, k)
	}
}

// tokenOf is the token of what a call has set.
func (a *aliases) tokenOf(c *lockCall, e *history.Event) string {
	switch {
	case c.value == "":
		c.value, c.sent = e.Token, e.Sent
	case e.Token == c.value:
	case c.earlier[e.Token] != "" || e.Sent < c.sent:
		return c.earlierToken(e.Token)
	case !c.granted:
		a.supersede(c, e)
		c.value, c.sent = e.Token, e.Sent
	}
	return c.token
}

// earlierToken is the token of an earlier try.
func (c *lockCall) earlierToken(value string) string {
	if c.earlier[value] == "" {
		c.earlier[value] = fmt.Sprintf("%s, try %d", c.token, len(c.earlier)+1)
	}
	return c.earlier[value]
}

// supersede gives the keys of the try under way, which has come to nothing, a token of their
// own: there is a key of another, by an event.
func (a *aliases) supersede(c *lockCall, by *history.Event) {
	var there []keyLocation
	for _, at := range slices.SortedFunc(maps.Keys(a.keys), compareLocations) {
		if k := a.keys[at]; k.call == c && k.value == c.value {
			if k.exists {
				there = append(there, at)
				a.vanished(&history.Event{Time: by.Time, Kind: history.KeyGone, Node: at.node, Client: by.Client, Reason: history.Deleted}, k)
			}
			k.token = c.earlierToken(k.value)
		}
	}
	for _, at := range there {
		a.appeared(&history.Event{Time: by.Time, Kind: history.KeySet, Node: at.node, Client: by.Client, Sent: c.sent}, a.keys[at])
	}
}

func compareLocations(a, b keyLocation) int {
	return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.name, b.name))
}

func (k *aliasedKey) share(node int) tokenOnNode { return tokenOnNode{node, k.call.resource, k.token} }

// appeared tells of a key, the first of its token on its node.
func (a *aliases) appeared(e *history.Event, k *aliasedKey) {
	k.exists = true
	s := k.share(e.Node)
	if a.count[s]++; a.count[s] == 1 {
		a.pass(e, k)
	}
}

// vanished tells that a key is vanished, the last of its token on its node.
func (a *aliases) vanished(e *history.Event, k *aliasedKey) {
	if !k.exists {
		return
	}
	k.exists = false
	s := k.share(e.Node)
	if a.count[s]--; a.count[s] == 0 {
		a.pass(e, k)
	}
}

func (a *aliases) pass(e *history.Event, k *aliasedKey) {
	named := *e
	named.Resource, named.Token = k.call.resource, k.token
	a.next.Record(&named)
}
