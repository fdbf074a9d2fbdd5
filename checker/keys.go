package checker

import "github.com/lockstorm/lockstorm/history"

// keys are the nodes that changed the keys of a hold.
type keys struct {
	set       nodes // nodes that keep the token, as of the last instant
	claimed   nodes // nodes that kept it when release was called
	deleted   nodes // nodes that deleted it since then
	extended  nodes // nodes that extended its key since extend was called
	confirmed nodes // the same when extend last returned: it may be called again in that instant

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
	if !l.header.Keys {
		return true
	}
	k := keyChange{about: l.resource(f.Resource), token: f.Token, kind: f.Kind, reason: f.Reason, node: f.Node, client: f.Client, at: f.Time}
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

// settleKeys enters the changes of an instant. It is known now who held the lock and who had
// called release. The checkers can read the changes until they have settled.
func (l *state) settleKeys() {
	for i := range l.changes {
		k := &l.changes[i]
		if k.hold == nil {
			k.hold = k.about.find(k.token) // its acquire may have been recorded after it
		}
		if k.hold != nil {
			l.enter(*k)
		}
	}
	l.changes = without(l.changes, func(k *keyChange) bool { return k.hold == nil })
}

func (l *state) enter(k keyChange) {
	keys := &k.hold.keys
	switch k.kind {
	case history.KeySet:
		keys.set = keys.set.with(k.node)
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
