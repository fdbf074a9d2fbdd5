package checker

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// keys are the nodes that changed the keys of a hold.
type keys struct {
	set       nodes // nodes that keep the token, as of the last instant
	granted   nodes // nodes that kept it when it was granted
	endless   nodes // nodes on which it has never had an expiry
	claimed   nodes // nodes that kept it when release was called
	deleted   nodes // nodes that deleted it since then
	extended  nodes // nodes that extended its key since extend was called
	confirmed nodes // the same when extend last returned: it may be called again in that instant
	kept      nodes // nodes that kept it when extend was called

	entry stored // in a store

	lastSet history.Time // when a node last set it soon after acquire was called: see lateShare

	fate *keyHistory // keys that were lost or renewed; nil: none
}

// keyChange is what a node did to the key of a hold.
type keyChange struct {
	hold   *hold // nil: no hold has that token, as far as is known in the instant
	about  *resource
	token  string
	kind   history.Kind
	reason string
	node   int
	client int
	at     history.Time

	endless bool // the key has no expiry
}

// keyChanged notes that a node changed a key. The change is entered at the end of the
// instant, so that during an instant the checkers see the keys from before it.
func (l *state) keyChanged(f *fact, _ bool) bool {
	f.about = l.resource(f.Resource)
	if l.header.Watched {
		f.about.watchedKey(f)
		return true
	}
	if !l.header.Keys {
		return true
	}
	k := keyChange{about: f.about, token: f.Token, kind: f.Kind, reason: f.Reason, node: f.Node, client: f.Client, at: f.Time, endless: f.Detail == history.NoExpiry}
	before := len(l.changes)
	for _, h := range k.about.holds {
		if h.token == k.token {
			k.hold = h
			l.changes = append(l.changes, k)
		}
	}
	if len(l.changes) == before {
		l.changes = append(l.changes, k)
	}
	l.crowded()
	return true
}

// watchedKey enters a change of a key that a watch reports. It took place before, at a time that is not
// known, and for a client that is not known. So nothing but clean-up and the truth of releases and
// extensions is judged by it.
func (r *resource) watchedKey(f *fact) {
	for _, h := range r.holds {
		if h.token != f.Token {
			continue
		}
		keys := &h.keys
		keys.expires(f.Kind, f.Node, f.Detail == history.NoExpiry)
		switch f.Kind {
		case history.KeyExtended:
			keys.set, keys.extended = keys.set.with(f.Node), keys.extended.with(f.Node)
		case history.KeySet:
			keys.set = keys.set.with(f.Node)
		case history.KeyGone:
			keys.set = keys.set.without(f.Node)
			if h.letGo && mayBeDeleted(f.Event) {
				keys.deleted = keys.deleted.with(f.Node)
			}
		}
	}
}

// mayBeDeleted reports whether a client may have deleted the key, or the entry, that is gone.
func mayBeDeleted(e *history.Event) bool {
	return e.Kind == history.EntryDeleted || e.Kind == history.KeyGone && (e.Reason == history.Deleted || e.Reason == "")
}

// exactKeys reports whether the history records changes of keys when they take place.
func exactKeys(h history.Header) bool { return h.Keys && !h.Watched }

// settleKeys enters the changes of an instant. It is known now who held the lock and who had
// called release. The checkers can read the changes until they have settled.
func (l *state) settleKeys() {
	unheld := 0
	for i := range l.changes {
		k := &l.changes[i]
		if k.hold == nil {
			k.hold = k.about.find(k.token) // its acquire may have been recorded after it
		}
		if k.hold != nil {
			l.enter(k)
		} else {
			unheld++
		}
	}
	if unheld > 0 {
		l.changes = without(l.changes, func(k *keyChange) bool { return k.hold == nil })
	}
}

// voted returns the nodes that kept the key when the hold was granted, or keep it if its try has not
// returned.
func (h *hold) voted() nodes {
	if !h.returned {
		return h.keys.set
	}
	return h.keys.granted
}

// expires notes whether the key on a node has never had an expiry.
func (k *keys) expires(change history.Kind, node int, endless bool) {
	k.endless = k.endless.without(node)
	if change == history.KeySet && endless {
		k.endless = k.endless.with(node)
	}
}

func (l *state) enter(k *keyChange) {
	h := k.hold
	keys := &h.keys
	keys.expires(k.kind, k.node, k.endless)
	switch k.kind {
	case history.KeySet:
		keys.set = keys.set.with(k.node)
		if h.returned && h.granted == k.at {
			keys.granted = keys.granted.with(k.node)
		}
		k.votes()
		if k.client != h.client.number {
			return
		}
		if k.replaces() || k.at > h.extend.at {
			keys.extended = keys.extended.with(k.node) // if an extension is under way
		}
		if k.at.Sub(h.acquire.at) > h.ttl/lateShare {
			h.keyRenewed(k)
		} else {
			keys.lastSet = max(keys.lastSet, k.at)
		}
	case history.KeyExtended:
		if k.client == h.client.number {
			keys.extended = keys.extended.with(k.node)
		} else {
			k.misled()
		}
		h.keyRenewed(k)
	case history.KeyGone:
		keys.set = keys.set.without(k.node)
		l.lose(k)
		if k.reason == history.Deleted && h.letGo && k.client == h.client.number {
			keys.deleted = keys.deleted.with(k.node)
		}
	}
}

// replaces reports whether a node sets the key in place of the same hold's, as for an extension that
// gives it another value. Then the key was not lost.
func (k *keyChange) replaces() bool {
	past := k.hold.keys.fate
	if past == nil {
		return false
	}
	before := len(past.lost)
	past.lost = without(past.lost, func(v *keyLoss) bool {
		return v.node == k.node && v.at == k.at && v.client == k.client && v.reason == history.Overwritten
	})
	return len(past.lost) < before
}

// votes notes that a node has set the key of one hold after it had lost that of another.
func (k *keyChange) votes() {
	for _, h := range k.about.holds {
		if h == k.hold || h.keys.fate == nil {
			continue
		}
		if slices.ContainsFunc(h.keys.fate.lost, func(v keyLoss) bool { return v.node == k.node }) {
			past := k.hold.history()
			past.votes = append(without(past.votes, func(v *vote) bool { return v.node == k.node }), vote{k.node, k.at})
			return
		}
	}
}

// misled notes that a node extended the key of a hold for a client that has, or believes to have, another.
func (k *keyChange) misled() {
	for _, h := range k.about.holds {
		if h.client.number != k.client || !h.returned || h.letGo || h == k.hold {
			continue
		}
		if past := h.history(); past.misled == nil {
			past.misled = &wrongKey{k.node, k.client, k.hold.client.number, k.token, k.at}
		}
	}
}

// keyLoss is a key that a node lost before its holder released it.
type keyLoss struct {
	node   int
	reason string
	at     history.Time
	client int           // the client that deleted or overwrote it; 0: not known
	early  time.Duration // by how much the key expired early, at least
	back   bool          // the node came back after the TTL was set
	asked  int           // the other client whose request made the key expire early
	due    history.Time  // when its TTL would have been over, or was
}

// vote is the time when a node set a key.
type vote struct {
	node int
	at   history.Time
}

// renewal is the last request that gave the key of a node its TTL: an extension, or a SET long after
// the call of acquire.
type renewal struct {
	node   int
	client int
	at     history.Time
	ttl    time.Duration
	own    history.Time // when the TTL is over that the holder gave it last
}

// lose notes that a node has lost the hold's key.
func (l *state) lose(k *keyChange) {
	h := k.hold
	if h.letGo {
		return
	}
	v := keyLoss{node: k.node, reason: k.reason, at: k.at, client: k.client}
	given := h.given(k.node)
	v.due = given.own
	if k.reason == history.Expired {
		if given.client != h.client.number && k.at < given.own {
			v.asked = given.client
		}
		v.early = given.at.Add(given.ttl).Sub(k.at)
		v.back = since(l.started, k.node, given.at)
	}
	h.history().lost = append(h.history().lost, v)
}

// given returns the request that last gave the key of a node its TTL. If that is the request of the
// try, it counts from the call of acquire on. A hold without a TTL has no end.
func (h *hold) given(node int) renewal {
	if h.keys.fate != nil {
		for _, r := range h.keys.fate.renewed {
			if r.node == node {
				return r
			}
		}
	}
	first := renewal{node: node, client: h.client.number, at: h.acquire.at, ttl: h.ttl, own: forever}
	if h.ttl > 0 && !h.keys.endless.has(node) {
		first.own = max(h.keys.lastSet, h.acquire.at).Add(h.ttl)
	}
	return first
}

// keyHistory is what happened to the keys of a hold, or to its entry in a store. Few holds have one.
type keyHistory struct {
	entry   entry
	lost    []keyLoss  // before its release
	renewed []renewal  // by node
	votes   []vote     // nodes that set its key after they had lost that of another hold
	misled  *wrongKey  // the first key of another hold that was extended for the holder
	instead []wrongKey // contract: other keys that were deleted for the holder since it called release
}

// wrongKey is the key of another client that a node changed for a holder.
type wrongKey struct {
	node, client, owner int
	token               string
	at                  history.Time
}

// event describes the change. The format takes the two clients, the token, the node and the instant.
func (k *wrongKey) event(format string) Event {
	e := Event{Role: RoleLoss, From: k.at, Client: k.client, Nodes: oneNode(k.node), Token: k.token}
	return e.say(format, k.client, k.owner, short(k.token), k.node, at(k.at))
}

func (h *hold) history() *keyHistory {
	if h.keys.fate == nil {
		h.keys.fate = &keyHistory{}
	}
	return h.keys.fate
}

// lateShare: a key counts as set when acquire was called, unless the node set it later than that by
// the TTL divided by lateShare. So few holds need a history.
const lateShare = 8

// keyRenewed notes that a node gave the hold's key another TTL.
func (h *hold) keyRenewed(k *keyChange) {
	ttl := h.asked
	if ttl == 0 {
		ttl = h.ttl
	}
	last := renewal{node: k.node, client: k.client, at: k.at, ttl: ttl, own: h.given(k.node).own}
	if k.client == h.client.number || k.client == 0 {
		if last.own = forever; ttl > 0 && !k.endless {
			last.own = k.at.Add(ttl)
		}
	}
	past := h.history()
	past.renewed = append(without(past.renewed, func(r *renewal) bool { return r.node == k.node }), last)
}

// foreign reports whether the key expired early because another client had set its TTL.
func (v keyLoss) foreign() bool { return v.asked != 0 }

// restored reports whether the node came back with an expiry from before.
func (v keyLoss) restored() bool { return v.short() && v.back && !v.foreign() }

// short reports whether the key expired before its time.
func (v keyLoss) short() bool { return v.reason == history.Expired && v.early > noticeable }

// orphanKey is a key that a node keeps under a resource's name.
type orphanKey struct {
	resource *resource
	node     int
	token    string
}

// keySet notes a key. It obstructs all tries under way for another token.
func (t *tolerance) keySet(f *fact) {
	r := f.about
	t.forget(f)
	r.kept = append(r.kept, orphanKey{r, f.Node, f.Token})
	for _, h := range r.holds {
		if h.token != f.Token {
			h.obstructed = h.obstructed.with(f.Node)
		}
	}
}

// forget notes that a node has no key any more.
func (t *tolerance) forget(f *fact) {
	r := f.about
	r.kept = without(r.kept, func(s *orphanKey) bool {
		if s.node == f.Node {
			t.cleared = append(t.cleared, *s)
		}
		return s.node == f.Node
	})
}

// obstruct notes the nodes whose keys obstruct a try that was called in this instant, or did
// until then.
func (t *tolerance) obstruct(h *hold) {
	for _, keys := range [][]orphanKey{h.resource.kept, t.cleared} {
		for _, s := range keys {
			if s.resource == h.resource && s.token != h.token {
				h.obstructed = h.obstructed.with(s.node)
			}
		}
	}
}
