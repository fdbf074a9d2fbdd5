package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// keys are the nodes that changed the keys of a hold.
type keys struct {
	set       nodes // nodes that keep the token, as of the last instant
	claimed   nodes // nodes that kept it when release was called
	deleted   nodes // nodes that deleted it since then
	extended  nodes // nodes that extended its key since extend was called
	confirmed nodes // the same when extend last returned: it may be called again in that instant
	kept      nodes // nodes that kept it when extend was called

	entry stored // in a store

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
	k := keyChange{about: f.about, token: f.Token, kind: f.Kind, reason: f.Reason, node: f.Node, client: f.Client, at: f.Time}
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

func (l *state) enter(k *keyChange) {
	keys := &k.hold.keys
	switch k.kind {
	case history.KeySet:
		keys.set = keys.set.with(k.node)
		if h := k.hold; k.client == h.client.number && k.at.Sub(h.acquire.at) > h.ttl/lateShare {
			h.history().renew(renewal{node: k.node, client: k.client, at: k.at, ttl: h.ttl})
		}
	case history.KeyExtended:
		if k.client == k.hold.client.number {
			keys.extended = keys.extended.with(k.node)
		}
		k.hold.keyRenewed(k)
	case history.KeyGone:
		keys.set = keys.set.without(k.node)
		l.lose(k)
		if k.reason == history.Deleted && k.hold.letGo && k.client == k.hold.client.number {
			keys.deleted = keys.deleted.with(k.node)
		}
	}
}

// keyLoss is a key that a node lost before its holder released it.
type keyLoss struct {
	node   int
	reason string
	at     history.Time
	client int           // the client that deleted or overwrote it, or set its TTL, if not the holder
	early  time.Duration // by how much the key expired early, at least
	back   bool          // the node came back after the TTL was set
}

// renewal is the last request that gave the key of a node its TTL: an extension, or a SET long after
// the call of acquire.
type renewal struct {
	node   int
	client int
	at     history.Time
	ttl    time.Duration
}

// lose notes that a node has lost the hold's key.
func (l *state) lose(k *keyChange) {
	h := k.hold
	if h.letGo || k.reason == history.Deleted && k.client == h.client.number {
		return
	}
	v := keyLoss{node: k.node, reason: k.reason, at: k.at, client: k.client}
	if k.reason == history.Expired {
		given := renewal{client: h.client.number, at: h.acquire.at, ttl: h.ttl}
		for _, r := range h.history().renewed {
			if r.node == k.node {
				given = r
			}
		}
		if given.client != h.client.number {
			v.client = given.client
		}
		v.early = given.at.Add(given.ttl).Sub(k.at)
		v.back = since(l.started, k.node, given.at)
	}
	h.history().lost = append(h.history().lost, v)
}

// keyHistory is what happened to the keys of a hold, or to its entry in a store, other than
// by its holder. Few holds have one.
type keyHistory struct {
	entry   entry
	lost    []keyLoss   // before its release
	renewed []renewal   // by node
	instead []Statement // contract: other keys that were deleted for the holder since it called release
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

// keyRenewed notes that a node extended the hold's key.
func (h *hold) keyRenewed(k *keyChange) {
	ttl := h.asked
	if ttl == 0 {
		ttl = h.ttl
	}
	h.history().renew(renewal{node: k.node, client: k.client, at: k.at, ttl: ttl})
}

// renew replaces the last request that gave the key of a node its TTL.
func (f *keyHistory) renew(last renewal) {
	f.renewed = append(without(f.renewed, func(r *renewal) bool { return r.node == last.node }), last)
}

// foreign reports whether the key expired because another client had set its TTL.
func (v keyLoss) foreign() bool { return v.reason == history.Expired && v.client != 0 }

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
