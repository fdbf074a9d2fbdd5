package timeline

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Keys are the nodes that changed the keys of a hold.
type Keys struct {
	Set       Nodes // nodes that keep the token, as of the last instant
	Ignored   Nodes // of these: nodes that set it in their quarantine, so that their votes do not count
	Endless   Nodes // nodes on which it has never had an expiry
	Claimed   Nodes // nodes that kept it when release was called
	Deleted   Nodes // nodes that deleted it since then
	Extended  Nodes // nodes that extended its key since extend was called
	Confirmed Nodes // the same when extend last returned: it may be called again in that instant
	Kept      Nodes // nodes that kept it when extend was called

	divided Nodes // nodes that also gave their vote to a hold that was granted while this one was held

	Entry StoredEntry // in a store

	ends []history.Time // by node, from 0: see [Keys.End], or [Timeline.MayKeep] of keys that a watch reports
	Sent history.Time   // when a client first sent what set such a key; 0: not known

	lastSet history.Time // when a node last set it soon after acquire was called: see lateShare

	Past *KeyHistory // keys that were lost or renewed; nil: none
}

// KeyChange is what a node did to the key of a hold.
type KeyChange struct {
	Hold   *Hold // nil: no hold has that token, as far as is known in the instant
	About  *Resource
	Token  string
	Kind   history.Kind
	Reason string
	Node   int
	Client int
	At     history.Time

	endless bool         // the key has no expiry
	ends    history.Time // of its time to live, if its clock goes on as it does; 0: not known
}

// keyChanged notes that a node changed a key. The change is entered at the end of the
// instant, so that during an instant the checkers see the keys from before it.
func (t *Timeline) keyChanged(f *Fact, _ bool) bool {
	f.Locked = t.Resource(f.Resource)
	if t.Header.Watched {
		t.watchedKey(f)
		return true
	}
	if !t.Header.Keys {
		return true
	}
	k := KeyChange{About: f.Locked, Token: f.Token, Kind: f.Kind, Reason: f.Reason, Node: f.Node, Client: f.Client, At: f.Time, endless: f.Detail == history.NoExpiry, ends: f.Ends}
	before := len(t.Changes)
	for _, h := range k.About.Holds {
		if h.Token == k.Token {
			k.Hold = h
			t.Changes = append(t.Changes, k)
		}
	}
	if len(t.Changes) == before {
		t.Changes = append(t.Changes, k)
	}
	t.crowded()
	return true
}

// watchedKey enters a change of a key that a watch reports. It took place before, at a time that is not
// known, and for a client that is not known. So nothing is judged by it but clean-up, the truth of releases and
// extensions, how long a key was to live, and that it was gone.
func (t *Timeline) watchedKey(f *Fact) {
	for _, h := range f.Locked.Holds {
		if h.Token != f.Token {
			continue
		}
		keys := &h.Keys
		if f.Kind != history.KeyGone {
			t.noteEnd(keys, f)
		}
		keys.expires(f.Kind, f.Node, f.Detail == history.NoExpiry)
		switch f.Kind {
		case history.KeyExtended:
			keys.Set, keys.Extended = keys.Set.With(f.Node), keys.Extended.With(f.Node)
		case history.KeySet:
			keys.Set = keys.Set.With(f.Node)
		case history.KeyGone:
			keys.Set = keys.Set.Without(f.Node)
			if h.ReleaseCalled && MayBeDeleted(f.Event) {
				keys.Deleted = keys.Deleted.With(f.Node)
			}
		}
		h.reportLoss(f)
	}
}

// reportLoss notes whether a node has lost the key of a hold, as of a change that a watch reports. A loss without a
// reason is not noted: it may be a guess that the key was the hold's.
func (h *Hold) reportLoss(f *Fact) {
	if past := h.Keys.Past; past != nil {
		past.Lost = Without(past.Lost, func(v *KeyLoss) bool { return v.Node == f.Node })
	}
	if f.Kind != history.KeyGone || !h.Granted || h.ReleaseCalled || f.Reason == "" {
		return
	}
	v := KeyLoss{Node: f.Node, Reason: f.Reason, At: f.Time, Client: f.Client, Silent: LongAgo, Kept: Forever, Due: Forever}
	if f.Reason == history.Expired && h.ExtendTTL == 0 {
		v.Early = h.Acquire.At.Add(h.TTL).Sub(f.Time)
	}
	h.KeyHistory().Lost = append(h.KeyHistory().Lost, v)
}

// MayBeDeleted reports whether a client may have deleted the key, or the entry, that is gone.
func MayBeDeleted(e *history.Event) bool {
	return e.Kind == history.EntryDeleted || e.Kind == history.KeyGone && (e.Reason == history.Deleted || e.Reason == "")
}

// ExactKeys reports whether the history records the keys of the lock on the nodes when they change.
func ExactKeys(h history.Header) bool { return h.Keys && !h.Watched && !h.Electorate().None() }

// settleKeys enters the changes of an instant. It is known now who held the lock and who had
// called release. The checkers can read the changes until they have settled.
func (t *Timeline) settleKeys() {
	unheld := 0
	for i := range t.Changes {
		k := &t.Changes[i]
		if k.Hold == nil {
			k.Hold = k.About.Find(k.Token) // its acquire may have been recorded after it
		}
		if k.Hold != nil {
			t.enter(k)
		} else {
			unheld++
		}
	}
	if unheld > 0 {
		t.Changes = Without(t.Changes, func(k *KeyChange) bool { return k.Hold == nil })
	}
}

// expires notes whether the key on a node has never had an expiry.
func (k *Keys) expires(change history.Kind, node int, endless bool) {
	k.Endless = k.Endless.Without(node)
	if change == history.KeySet && endless {
		k.Endless = k.Endless.With(node)
	}
}

func (t *Timeline) enter(k *KeyChange) {
	h := k.Hold
	keys := &h.Keys
	keys.expires(k.Kind, k.Node, k.endless)
	switch k.Kind {
	case history.KeySet:
		keys.Set = keys.Set.With(k.Node)
		t.noteVote(k)
		if k.Client != h.Client.Number {
			return
		}
		if k.replaces() || k.At > h.Extend.At {
			keys.Extended = keys.Extended.With(k.Node) // if an extension is under way
		}
		if k.At.Sub(h.Acquire.At) > h.TTL/lateShare {
			h.keyRenewed(k)
		} else {
			keys.lastSet = max(keys.lastSet, k.At)
		}
	case history.KeyExtended:
		keys.setEnd(k.Node, k.ends)
		if k.Client == h.Client.Number {
			keys.Extended = keys.Extended.With(k.Node)
		} else {
			k.misled()
		}
		h.keyRenewed(k)
	case history.KeyGone:
		keys.Set = keys.Set.Without(k.Node)
		t.lose(k)
		if k.Reason == history.Deleted && h.ReleaseCalled && k.Client == h.Client.Number {
			keys.Deleted = keys.Deleted.With(k.Node)
		}
	}
}

// replaces reports whether a node sets the key in place of the same hold's, as for an extension that
// gives it another value. Then the key was not lost.
func (c *KeyChange) replaces() bool {
	past := c.Hold.Keys.Past
	if past == nil {
		return false
	}
	before := len(past.Lost)
	past.Lost = Without(past.Lost, func(v *KeyLoss) bool {
		return v.Node == c.Node && v.At == c.At && v.Client == c.Client && v.Reason == history.Overwritten
	})
	return len(past.Lost) < before
}

// misled notes that a node extended the key of a hold for a client that has, or believes to have, another.
func (c *KeyChange) misled() {
	for _, h := range c.About.Holds {
		if h.Client.Number != c.Client || !h.Granted || h.ReleaseCalled || h == c.Hold {
			continue
		}
		if past := h.KeyHistory(); past.Misled == nil {
			past.Misled = &WrongKey{c.Node, c.Client, c.Hold.Client.Number, c.Token, c.At}
		}
	}
}

// KeyLoss is a key that a node lost before its holder released it.
type KeyLoss struct {
	Node   int
	Reason string
	At     history.Time
	Client int           // the client that deleted or overwrote it; 0: not known
	Silent history.Time  // until when the node's vote is known not to count: it is down, or in quarantine
	Kept   history.Time  // until when the node was to keep it, by its clock as it ran; Forever: not known, or for ever
	Early  time.Duration // by how much the key expired early, at least
	back   bool          // the node came back after the key was given another TTL than its first
	Asked  int           // the other client whose request made the key expire early
	Due    history.Time  // when its TTL would have been over, or was
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
func (t *Timeline) lose(k *KeyChange) {
	h := k.Hold
	if h.ReleaseCalled {
		return
	}
	v := KeyLoss{Node: k.Node, Reason: k.Reason, At: k.At, Client: k.Client, Silent: t.silentUntil(k.Node, k.At), Kept: h.Keys.End(k.Node)}
	given := h.given(k.Node)
	v.Due = given.own
	if k.Reason == history.Expired {
		if given.client != h.Client.Number && k.At < given.own {
			v.Asked = given.client
		}
		v.Early = given.at.Add(given.ttl).Sub(k.At)
		// A key that was never renewed has had one expiry, so no former state can have an earlier one.
		v.back = given.at > h.Acquire.At && HappenedSince(t.Started, k.Node, given.at)
	}
	h.KeyHistory().Lost = append(h.KeyHistory().Lost, v)
}

// given returns the request that last gave the key of a node its TTL. If that is the request of the
// try, it counts from the call of acquire on. A hold without a TTL has no end.
func (h *Hold) given(node int) renewal {
	if h.Keys.Past != nil {
		for _, r := range h.Keys.Past.renewed {
			if r.node == node {
				return r
			}
		}
	}
	first := renewal{node: node, client: h.Client.Number, at: h.Acquire.At, ttl: h.TTL, own: Forever}
	if h.TTL > 0 && !h.Keys.Endless.Has(node) {
		first.own = max(h.Keys.lastSet, h.Acquire.At).Add(h.TTL)
	}
	return first
}

// KeyHistory is what happened to the keys of a hold, or to its entry in a store. Few holds have one.
type KeyHistory struct {
	Entry   EntryLoss
	Lost    []KeyLoss // before its release
	renewed []renewal // by node
	Misled  *WrongKey // the first key of another hold that was extended for the holder
}

// WrongKey is the key of another client that a node changed for a holder.
type WrongKey struct {
	Node, Client, Owner int
	Token               string
	At                  history.Time
}

// KeyHistory returns what happened to the keys of the hold, which is kept from now on.
func (h *Hold) KeyHistory() *KeyHistory {
	if h.Keys.Past == nil {
		h.Keys.Past = &KeyHistory{}
	}
	return h.Keys.Past
}

// lateShare: a key counts as set when acquire was called, unless the node set it later than that by
// the TTL divided by lateShare. So few holds need a history.
const lateShare = 8

// keyRenewed notes that a node gave the hold's key another TTL.
func (h *Hold) keyRenewed(k *KeyChange) {
	ttl := h.ExtendTTL
	if ttl == 0 {
		ttl = h.TTL
	}
	last := renewal{node: k.Node, client: k.Client, at: k.At, ttl: ttl, own: h.given(k.Node).own}
	if k.Client == h.Client.Number || k.Client == 0 {
		if last.own = Forever; ttl > 0 && !k.endless {
			last.own = k.At.Add(ttl)
		}
	}
	past := h.KeyHistory()
	past.renewed = append(Without(past.renewed, func(r *renewal) bool { return r.node == k.Node }), last)
}

// Foreign reports whether the key expired early because another client had set its TTL.
func (l KeyLoss) Foreign() bool { return l.Asked != 0 }

// Restored reports whether the node came back with an expiry from before.
func (l KeyLoss) Restored() bool { return l.Short() && l.back && !l.Foreign() }

// Short reports whether the key expired before its time.
func (l KeyLoss) Short() bool { return l.Reason == history.Expired && l.Early > Noticeable }

// StoredEntry is what is known of the entry that a hold has in a store.
type StoredEntry struct {
	There   bool // as of the last event about it
	Claimed bool // the same when release was called
	Deleted bool // by the client, or by whom is not known, since then
}

// entrySet, entryDeleted and entriesSeen follow the entries in a store.
func (t *Timeline) entrySet(f *Fact, _ bool) bool {
	f.Locked = t.Resource(f.Resource)
	for _, h := range f.Locked.Holds {
		if h.Token == f.Token {
			h.Keys.Entry.There = true
		}
	}
	return true
}

func (t *Timeline) entryDeleted(f *Fact, _ bool) bool {
	f.Locked = t.Resource(f.Resource)
	for _, h := range f.Locked.Holds {
		if h.Token != f.Token {
			continue
		}
		h.Keys.Entry.There = false
		if !h.ReleaseCalled {
			h.KeyHistory().Entry = EntryLoss{Gone: true, At: f.Time, Reason: history.Deleted, Client: f.Client}
		}
		if h.ReleaseCalled && (f.Client == 0 || f.Client == h.Client.Number) {
			h.Keys.Entry.Deleted = true
		}
	}
	return true
}

// entryGone finds the client whose entry went away: a store does not know clients.
func (t *Timeline) entryGone(f *Fact, _ bool) bool {
	for _, c := range t.Clients {
		for _, h := range c.Holds {
			if h.Token == f.Token {
				h.Keys.Entry.There = false
				h.KeyHistory().Entry = EntryLoss{Gone: true, At: f.Time, Reason: f.Reason, Leader: f.Node}
			}
		}
	}
	return true
}
