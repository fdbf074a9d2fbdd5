package checker

import "github.com/lockstorm/lockstorm/history"

// keys is the nodes that did something to the keys of a hold.
type keys struct {
	set       nodes // that keep the token, as of the last instant
	claimed   nodes // that kept it when release was called
	deleted   nodes // that deleted it since then
	extended  nodes // that extended its life since extend was called
	confirmed nodes // that had done so when it last returned: it may be called again in that instant

	fate *keyHistory // what became of them against their holder's will; nil: nothing
}

// keyChange is what a node did to the key of a hold.
type keyChange struct {
	hold   *hold // nil: none has that token, as far as the instant has been told
	about  *resource
	token  string
	kind   history.Kind
	reason string
	node   int
	client int
	at     history.Time
}

// keyChanged takes note of what a node did to the keys of holds, to be entered at
// the end of the instant: what the judges are told of an instant is what the nodes
// kept before it.
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

// settleKeys enters the changes of an instant, now that it is clear who held and
// who had called release. The judges can look at them until they have settled.
func (l *state) settleKeys() {
	for i := range l.changes {
		k := &l.changes[i]
		if k.hold == nil {
			k.hold = k.about.find(k.token) // its acquire may have been told after it
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
