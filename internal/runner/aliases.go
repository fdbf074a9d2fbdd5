package runner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// aliases is a sink for the history of an external lock. Such a lock chooses the names and
// values of its keys itself. aliases renames the keys to the resource and token of the
// call during which the client sent the request that set them.
//
// A call may try several times before it is granted the lock, each time with another
// value. The last value is the one of the hold. When a later try sets a key, keys of
// earlier tries get a token of their own, which nobody holds.
type aliases struct {
	next  history.Sink
	calls map[int][]*lockCall // by client, the oldest first
	keys  map[keyLocation]*aliasedKey
	count map[tokenOnNode]int // keys that are there; a lock may keep several on a node
}

// lockCall is a client's call of Lock.
type lockCall struct {
	resource, token string
	began           history.Time
	granted         bool

	value   string            // of the try under way, or of the hold; empty: no key has been set
	sent    history.Time      // the first request that set it
	earlier map[string]string // tokens, by the values of earlier tries
}

// keyLocation is the node and the real name of a key.
type keyLocation struct {
	node int
	name string
}

// aliasedKey says which call set a key, or set it last.
type aliasedKey struct {
	call         *lockCall
	value, token string
	exists       bool
}

// tokenOnNode identifies the keys that a node has under one token.
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

// last returns the client's latest call that began by a time, or nil.
func (a *aliases) last(client int, at history.Time) *lockCall {
	for _, c := range slices.Backward(a.calls[client]) {
		if c.began <= at {
			return c
		}
	}
	return nil
}

// set records that a node has a key. A key that a node has restored belongs to the call
// that set it. A key that was set before all calls belongs to no lock.
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

// tokenOf returns the token of what a call has set.
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

// earlierToken returns the token of an earlier try.
func (c *lockCall) earlierToken(value string) string {
	if c.earlier[value] == "" {
		c.earlier[value] = fmt.Sprintf("%s, try %d", c.token, len(c.earlier)+1)
	}
	return c.earlier[value]
}

// supersede gives the keys of the current try, which has failed, a token of their own. by
// is the event of the next try's first key.
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

// appeared records a key if it is the first of its token on its node.
func (a *aliases) appeared(e *history.Event, k *aliasedKey) {
	k.exists = true
	s := k.share(e.Node)
	if a.count[s]++; a.count[s] == 1 {
		a.pass(e, k)
	}
}

// vanished records that a key is gone if it was the last of its token on its node.
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
