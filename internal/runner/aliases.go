package runner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// aliases is a sink for the history of an external lock. Such a lock chooses the names and
// values of its keys itself. aliases renames the keys to the resource and token of the
// call during which the client sent the request that set them.
//
// A call may try several times before it is granted the lock, each time with another
// value. The last value is the one of the hold, unless more keys have an earlier one when
// the lock is granted. Keys of other tries have tokens of their own, which nobody holds: those
// of earlier tries as soon as a later one sets a key. After the grant a new value is the
// hold's if it replaces the hold's value on a node, as an extension may do. Otherwise a
// request of an earlier try, which set no key before, has come late.
//
// A watch reports keys late, so that those of a try can come after the grant. Then the time at which
// a value was first sent decides, and the value of the hold is decided anew with each key.
//
// If clients share a lock, each key is set by a connection of the first of them. Which call it
// belongs to is guessed, and corrected when a call is granted that has fewer keys than another
// one's value. A key of no hold counts as one of a call that waits as long as there is one that may have
// set it: only then is it known that it was left behind.
type aliases struct {
	next  history.Sink
	late  bool                // a watch reports the keys
	share int                 // how many clients share a lock
	calls map[int][]*lockCall // by client, the oldest first
	keys  map[keyLocation]*aliasedKey
	count map[tokenOnNode]int // keys that are there; a lock may keep several on a node

	owner map[keyLocation]string // the first resource whose hold has been released with this key
}

// lockCall is a client's call of Lock.
type lockCall struct {
	client          int
	resource, token string
	began           history.Time
	grantedAt       history.Time
	granted, over   bool // over: it was refused, or its release has returned
	overAt          history.Time

	value  string            // of the try under way, or of the hold; empty: no key has been set
	sent   history.Time      // when it was first sent
	others map[string]string // tokens, by the values of other tries
	tries  int               // others so far
	former map[string]bool   // values of the hold that extensions have replaced
	at     []keyLocation     // where it has set keys
}

// keyLocation is the node and the real name of a key.
type keyLocation struct {
	node int
	name string
}

// aliasedKey says which call set a key, or set it last.
type aliasedKey struct {
	call        *lockCall
	value       string
	client      int    // as whose key it counts: mostly the call's
	token       string // the call's, or that of another try
	sent        history.Time
	exists      bool
	overwritten bool   // the next key there has replaced it
	detail      string // says that it has no expiry
	ends        history.Time
}

// tokenOnNode identifies the keys that a node has under one token.
type tokenOnNode struct {
	node            int
	resource, token string
}

func newAliases(next history.Sink, late bool, share int) *aliases {
	return &aliases{next: next, late: late, share: max(share, 1), calls: map[int][]*lockCall{}, keys: map[keyLocation]*aliasedKey{}, count: map[tokenOnNode]int{}, owner: map[keyLocation]string{}}
}

// Record implements [history.Sink].
func (a *aliases) Record(e *history.Event) {
	switch e.Kind {
	case history.Acquire:
		a.calls[e.Client] = append(a.calls[e.Client], &lockCall{
			client: e.Client, resource: e.Resource, token: e.Token, began: e.Time, others: map[string]string{}, former: map[string]bool{},
		})
	case history.Granted:
		if c := a.last(e.Client, e.Time); c != nil && c.token == e.Token {
			a.decide(c)
			c.granted, c.grantedAt = true, e.Time
			a.settle(e)
		}
	case history.Refused, history.Released:
		if c := a.last(e.Client, e.Time); c != nil && c.token == e.Token {
			c.over, c.overAt = true, e.Time
			a.settle(e)
			if e.Kind == history.Released {
				released := *e
				released.Name = a.resourceOfKeys(c)
				e = &released
			}
		}
	case history.KeySet:
		a.set(e)
		return
	case history.KeyExtended:
		if k := a.key(e); k != nil && k.exists {
			k.detail, k.ends = e.Detail, e.Ends
			a.pass(a.together(e, k), k)
		}
		return
	case history.KeyGone:
		if k := a.key(e); k != nil {
			a.vanished(e, k)
			k.overwritten = e.Reason == history.Overwritten
		}
		return
	}
	a.next.Record(e)
}

// key returns the key that an event is about; nil: it is no lock's.
func (a *aliases) key(e *history.Event) *aliasedKey {
	if k := a.keys[keyLocation{e.Node, e.Resource}]; k != nil && k.value == e.Token {
		return k
	}
	return nil
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

// waited reports whether the call was waiting for the lock at a time after it began.
func (c *lockCall) waited(at history.Time) bool {
	return !(c.granted && at > c.grantedAt) && !(c.over && at > c.overAt)
}

// lock returns the number of the lock of a client, which clients may share.
func (a *aliases) lock(client int) int { return (client - 1) / a.share }

// callOf returns the call during which a request was sent that has set a key, in place of another or of
// none; nil: there was no call before.
func (a *aliases) callOf(e *history.Event, before *aliasedKey) *lockCall {
	if a.share == 1 {
		return a.last(e.Client, e.Sent)
	}
	if before != nil && before.overwritten && before.call.granted && !before.call.over && a.lock(before.call.client) == a.lock(e.Client) {
		return before.call // an extension
	}
	var best *lockCall
	// What the calls were doing when the request was sent counts: since then one may have been granted the lock.
	rank := func(c *lockCall) int {
		switch waits, waited := !c.granted && !c.over, c.waited(e.Sent); {
		case waited && (c.value == e.Token || c.others[e.Token] != ""):
			return 5
		case waits && c.value == "":
			return 4
		case waited && c.value == "":
			return 3
		case c.value == e.Token || c.others[e.Token] != "":
			return 2
		case waits: // a further try, with another value
			return 1
		}
		return 0
	}
	for client := range a.share {
		c := a.last(e.Client+client, e.Sent)
		if c != nil && (best == nil || cmp.Or(rank(c)-rank(best), c.named(e.Resource)-best.named(e.Resource)) > 0) {
			best = c
		}
	}
	return best
}

// named returns how much of a key's name is the resource of the call: most locks give a key the name of what they lock,
// and something before or after it.
func (c *lockCall) named(key string) int {
	if !strings.Contains(key, c.resource) {
		return 0
	}
	return len(c.resource)
}

// set records that a node has a key. A key that a node has restored belongs to the call
// that set it. A key that was set before all calls belongs to no lock.
func (a *aliases) set(e *history.Event) {
	at := keyLocation{e.Node, e.Resource}
	if e.Client != 0 {
		c := a.callOf(e, a.keys[at])
		if c == nil {
			delete(a.keys, at)
			return
		}
		if a.note(c, e, a.keys[at]); !slices.Contains(c.at, at) {
			c.at = append(c.at, at)
		}
		a.settle(e)
		k := &aliasedKey{call: c, value: e.Token, sent: e.Sent}
		k.client, k.token = a.named(k)
		a.keys[at] = k
	}
	k := a.key(e)
	if k == nil {
		return
	}
	if e.Reason == history.RolledBack { // nobody set it now
		back := *e
		back.Client, back.Sent, back.Reason = 0, 0, ""
		e = &back
	}
	if a.appeared(e, k); a.late && k.call.granted {
		a.decide(k.call)
		a.settle(e)
	}
}

// resourceOfKeys returns another resource to which all keys of a hold belong, or "". A lock may have other keys that
// holds of several resources set, such as one for each session. If clients share a lock, it is a guess whose a key is.
func (a *aliases) resourceOfKeys(c *lockCall) (other string) {
	slices.SortFunc(c.at, compareLocations)
	own := false
	for _, at := range c.at {
		if a.owner[at] == "" {
			a.owner[at] = c.resource
		}
		own = own || a.owner[at] == c.resource
		other = cmp.Or(other, a.owner[at])
	}
	if own || a.share > 1 {
		return ""
	}
	return other
}

// note notes the value of what a call has set, where there was another key before or none.
func (a *aliases) note(c *lockCall, e *history.Event, before *aliasedKey) {
	replaces := before != nil && before.overwritten && before.call == c && before.value == c.value
	extends := c.granted && (!a.late || e.Sent > c.grantedAt)
	switch {
	case c.value == "":
		c.switchTo(e.Token)
		c.sent = e.Sent
	case e.Token == c.value || c.former[e.Token]:
	case extends && replaces:
		c.former[c.value] = true
		c.switchTo(e.Token)
	case c.others[e.Token] != "" || extends || e.Sent < c.sent:
		c.has(e.Token)
	default:
		c.switchTo(e.Token)
		c.sent = e.Sent
	}
}

// decide gives the token of a call that is granted to the value that more keys have than ever had the
// last one: then that is of a late request. A lock may keep several keys on a node.
func (a *aliases) decide(c *lockCall) {
	had, have := 0, map[string]int{}
	for _, k := range a.keys {
		switch {
		case k.call != c:
		case k.value == c.value:
			had++
		case k.exists && !c.former[k.value]:
			have[k.value]++
		}
	}
	best, most := c.value, had
	for _, value := range slices.Sorted(maps.Keys(have)) {
		if have[value] > most {
			best, most = value, have[value]
		}
	}
	if best != c.value {
		c.switchTo(best)
	}
	if a.share > 1 {
		a.takeOver(c)
	}
}

// takeOver exchanges the keys of a call that is granted for those of another try of the same lock, if more of
// these are there: they are its own. No try of a call is older than the call, and a hold keeps its keys.
func (a *aliases) takeOver(c *lockCall) {
	type try struct {
		call  *lockCall
		value string
	}
	most, keys := 0, map[try]int{}
	for _, k := range a.keys {
		d := k.call
		switch {
		case !k.exists || d.resource != c.resource || a.lock(d.client) != a.lock(c.client):
		case d == c && k.value == c.value:
			most++
		case d.granted && (k.value == d.value || d.former[k.value]) || k.sent < c.began:
		default:
			keys[try{d, k.value}]++
		}
	}
	var best try
	for t, n := range keys {
		if n > most || best.call != nil && n == most && t.value < best.value {
			best, most = t, n
		}
	}
	switch best.call {
	case nil:
	case c:
		c.switchTo(best.value)
	default:
		a.exchange(c, best.call, best.value)
	}
}

// exchange gives a call the keys of another one that have a value, and the other one those of its own value.
func (a *aliases) exchange(c, other *lockCall, value string) {
	was := c.value
	switch {
	case value == other.value:
		other.value, other.sent = was, c.sent
	case was != "":
		other.has(was)
	}
	delete(other.others, value)
	c.value = value
	for _, k := range a.keys {
		switch {
		case k.call == c && k.value == was:
			k.call = other
		case k.call == other && k.value == value:
			k.call = c
		}
	}
}

// switchTo makes a value that of the call. The one that was the call's, unless it was the hold's, is that of another
// try.
func (c *lockCall) switchTo(value string) {
	if c.value != "" && !c.former[c.value] {
		c.has(c.value)
	}
	c.value = value
}

// has notes the value of another try, which gets a token of its own.
func (c *lockCall) has(value string) {
	if c.others[value] == "" {
		c.tries++
		c.others[value] = fmt.Sprintf("%s, try %d", c.token, c.tries)
	}
}

// settle records whose the keys are, as far as that has changed. by is the event that shows it.
func (a *aliases) settle(by *history.Event) {
	var changed []keyLocation
	for at, k := range a.keys {
		switch client, token := a.named(k); {
		case token == k.token:
		case k.exists:
			changed = append(changed, at)
		default:
			k.client, k.token = client, token
		}
	}
	slices.SortFunc(changed, compareLocations)
	reason := history.Deleted
	if a.late {
		reason = "" // nobody has deleted the hold's key: it was never there
	}
	for _, at := range changed {
		k := a.keys[at]
		a.vanished(&history.Event{Time: by.Time, Kind: history.KeyGone, Node: at.node, Client: k.client, Reason: reason}, k)
		k.client, k.token = a.named(k)
	}
	for _, at := range changed {
		k := a.keys[at]
		a.appeared(&history.Event{Time: by.Time, Kind: history.KeySet, Node: at.node, Client: k.client, Sent: k.sent, Detail: k.detail, Ends: k.ends}, k)
	}
}

// named returns as whose a key counts: a client and a token. If it seems to be left behind, but a call of the same
// lock that may have set it still waits, it is that one's: nobody is to be blamed for what is not known.
func (a *aliases) named(k *aliasedKey) (client int, token string) {
	c := k.call
	own := k.value == c.value || c.former[k.value]
	if a.share > 1 && !(own && (c.granted || !c.over)) {
		if w := a.waiterFor(k); w != nil {
			return w.client, w.token
		}
	}
	if own {
		return c.client, c.token
	}
	return c.client, c.others[k.value]
}

// waiterFor returns a call that waits for the lock of a key, and was under way when the request was sent that set
// the key, or nil.
func (a *aliases) waiterFor(k *aliasedKey) *lockCall {
	first := k.call.client - (k.call.client-1)%a.share
	for client := first; client < first+a.share; client++ {
		if c := a.last(client, k.sent); c != nil && !c.granted && !c.over && c.resource == k.call.resource {
			return c
		}
	}
	return nil
}

func compareLocations(a, b keyLocation) int {
	return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.name, b.name))
}

func (k *aliasedKey) share(node int) tokenOnNode { return tokenOnNode{node, k.call.resource, k.token} }

// appeared records a key if it is the first of its token on its node. Of another one it records that the token is
// kept for longer, if it is.
func (a *aliases) appeared(e *history.Event, k *aliasedKey) {
	s := k.share(e.Node)
	if a.count[s] == 0 { // most locks keep one
		a.count[s]++
		k.exists, k.detail, k.ends = true, e.Detail, e.Ends
		a.pass(e, k)
		return
	}
	before := a.together(e, k)
	a.count[s]++
	k.exists, k.detail, k.ends = true, e.Detail, e.Ends
	if after := a.together(e, k); before.Ends != 0 && (after.Ends == 0 || after.Ends > before.Ends) {
		after.Kind, after.Sent = history.KeyExtended, 0
		a.pass(after, k)
	}
}

// together returns an event about a key with the last end of all keys that have its token on the node.
func (a *aliases) together(e *history.Event, k *aliasedKey) *history.Event {
	all, some := *e, false
	for at, other := range a.keys {
		if !other.exists || other.share(at.node) != k.share(e.Node) {
			continue
		}
		if !some || other.ends == 0 || all.Ends != 0 && other.ends > all.Ends {
			all.Ends, all.Detail = other.ends, other.detail
		}
		some = true
	}
	return &all
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

// pass records an event about a key. If a watch reports the keys of clients that share a lock, it is a guess which
// call set it, which nobody is to be blamed by: then its end is not known, nor why it is gone.
func (a *aliases) pass(e *history.Event, k *aliasedKey) {
	named := *e
	named.Resource, named.Token = k.call.resource, k.token
	if a.late && a.share > 1 {
		named.Ends, named.Reason = 0, ""
	}
	if e.Client != 0 && a.lock(e.Client) == a.lock(k.client) {
		named.Client = k.client
	}
	a.next.Record(&named)
}
