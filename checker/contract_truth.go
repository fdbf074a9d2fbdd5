package checker

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// truth judges what releases and extensions return by the entries of a store, or by keys that a watch
// reports:
//   - a release says that the lock was held: then a client has deleted the entry, or keys on a quorum
//     of nodes, before the return;
//   - a release says that it was not: then the holder's own request has not deleted an entry that was
//     there when it called release. This is judged only if the history says who deletes entries;
//   - an extension succeeds: then a quorum of nodes has kept the key at some time between call and
//     return. A node that already keeps a key for longer does not change it, so that there is no
//     change to look for. Entries are not extended.
//
// And nobody deletes the key or the entry of a hold that goes on and that its holder has not
// released.
//
// If a watch reports the changes, a claim is judged when all changes before it are recorded, for each
// node. Nothing is concluded from a node whose watch has begun anew since the call. Claims about an
// entry are not judged if the store's leader changes before: a replica may never have had the
// change.
type truth struct {
	contract *contract
	quorum   timeline.Electorate // the nodes; of a store one that stands for it
	claims   []watchedClaim

	judged   int
	unjudged int
}

// watchedClaim is what a release or an extension returned, and what is known of it by node.
type watchedClaim struct {
	what   claimKind
	where  Place // from the call to the return
	token  string
	backed timeline.Nodes // they did it, as far as is recorded
	denied timeline.Nodes // they did not: all changes are recorded
	unseen timeline.Nodes // not known: the watch has begun anew
}

// storeNode is the number of the node that stands for a store.
const storeNode = 1

// keeper is the node whose change the event is, or whose changes it confirms.
func keeper(f *timeline.Fact) int {
	if f.Node == 0 || f.Kind == history.EntryDeleted || f.Kind == history.EntryGone || f.Kind == history.EntrySet {
		return storeNode
	}
	return f.Node
}

func newTruth(c *contract) truth {
	t := truth{contract: c, quorum: c.quorum}
	if c.header.Entries {
		t.quorum = timeline.AllAlike(storeNode)
	}
	return t
}

// judges reports whether there are entries, or keys under a watch.
func (t *truth) judges() bool {
	h := &t.contract.header
	return h.Entries || h.Watched && h.Keys && !t.quorum.None()
}

func (t *truth) Wants() timeline.Kinds {
	switch h := &t.contract.header; {
	case h.Entries:
		return timeline.KindSet(history.EntryDeleted, history.EntriesSeen, history.Leader)
	case t.judges():
		return timeline.KindSet(history.KeySet, history.KeyExtended, history.KeyGone, history.EntriesSeen)
	}
	return 0
}

// released notes the return of a release.
func (t *truth) released(f *timeline.Fact) {
	h := f.Hold
	if h == nil {
		return
	}
	claim := t.claim(f, saysHeld)
	watched := t.contract.header.Watched
	e := &h.Keys.Entry
	claim.backed = h.Keys.Deleted
	if e.Deleted {
		claim.backed = claim.backed.With(storeNode)
	}
	switch {
	case f.Outcome == history.OK && (watched || !e.Deleted):
		t.claims = append(t.claims, claim)
	case f.Outcome == history.Declined && !watched && e.Claimed && e.Deleted:
		t.contract.untrue(saysLost, claim.where, claim.token, func() string { return "its request deleted the entry in between" })
	}
	if !watched {
		t.judged++
	}
}

// extended notes the return of an extension.
func (t *truth) extended(f *timeline.Fact) {
	h := f.Hold
	if h == nil || t.contract.header.Entries {
		return
	}
	claim := t.claim(f, saysExtended)
	claim.backed = h.Keys.Kept | h.Keys.Set | h.Keys.Extended
	t.claims = append(t.claims, claim)
}

func (t *truth) claim(f *timeline.Fact, what claimKind) watchedClaim {
	return watchedClaim{what: what, where: placeOfHold(f.Hold, f.Call.At, f.Time), token: f.Hold.Token}
}

func (t *truth) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.EntryDeleted, history.KeyGone:
		if timeline.MayBeDeleted(f.Event) {
			t.back(f, false)
		}
		if f.Kind == history.EntryDeleted || f.Reason == history.Deleted {
			t.deleted(f)
		}
	case history.KeySet, history.KeyExtended:
		t.back(f, true)
	case history.EntriesSeen:
		if (f.Node == 0) == t.contract.header.Entries {
			t.judge(keeper(f), f.Since, f.Sent)
		}
	case history.Leader:
		if t.contract.header.Watched {
			t.unjudged += len(t.claims)
			t.claims = t.claims[:0]
		}
	}
}

// back notes that a node has done what releases, or extensions, of the token claim.
func (t *truth) back(f *timeline.Fact, extended bool) {
	t.backClaims(keeper(f), f.Resource, f.Token, func(c *watchedClaim) bool { return (c.what == saysExtended) == extended })
}

// backClaims notes that a node backs those claims about a token that are wanted.
func (t *truth) backClaims(node int, resource, token string, wanted func(*watchedClaim) bool) {
	for i := range t.claims {
		if c := &t.claims[i]; c.token == token && c.where.Resource == resource && wanted(c) {
			c.backed = c.backed.With(node)
		}
	}
}

// Settle judges the claims of an instant, if changes are recorded when they take place. A key that went in the
// instant in which an extension returned may have been there when it did.
func (t *truth) Settle() {
	if len(t.claims) == 0 {
		return
	}
	changes := t.contract.timeline.Changes
	for i := range changes {
		if k := &changes[i]; k.Kind == history.KeyGone && k.Hold != nil {
			t.backClaims(k.Node, k.Hold.Resource.Name, k.Hold.Token, func(c *watchedClaim) bool { return c.what == saysExtended && c.where.To == k.At })
		}
	}
	if !t.contract.header.Watched {
		t.judge(storeNode, 0, timeline.Forever)
	}
}

// judge judges the claims between two instants by a node: all its changes between them are recorded.
func (t *truth) judge(node int, from, seen history.Time) {
	t.claims = timeline.Without(t.claims, func(c *watchedClaim) bool {
		switch {
		case c.where.To >= seen:
			return false
		case c.backed.Has(node):
		case c.where.From < from:
			c.unseen = c.unseen.With(node)
		default:
			c.denied = c.denied.With(node)
		}
		return t.decide(c)
	})
}

// decide decides a claim, and reports whether no more can be known of it.
func (t *truth) decide(c *watchedClaim) bool {
	switch {
	case t.quorum.Quorum(c.backed):
	case !t.quorum.Quorum(t.quorum.Nodes() &^ c.denied):
		t.contract.untrue(c.what, c.where, c.token, func() string {
			if t.contract.header.Entries {
				return "no client deleted the entry in between"
			}
			return unbacked(t.quorum, c.backed, c.what)
		})
	case t.quorum.Nodes()&^(c.backed|c.denied|c.unseen) != 0:
		return false
	default:
		t.unjudged++
		return true
	}
	if t.contract.header.Watched {
		t.judged++
	}
	return true
}

// deleted reports the deletion of the key, or the entry, of a hold that goes on. A watch reports it
// late: it took place after what was seen before.
func (t *truth) deleted(f *timeline.Fact) {
	node := f.Node
	if f.Kind == history.EntryDeleted {
		node = 0
	}
	for _, h := range f.Locked.Holds {
		if h.Token != f.Token || h.ReleaseCalled || !h.Granted || h.GrantedAt >= f.Time || h.Windows[timeline.LeaseWindow].Over ||
			t.contract.header.Watched && t.contract.timeline.SeenUpTo(node) <= h.GrantedAt {
			continue
		}
		t.contract.deletedKey(h, node, f.Client, f.Time)
	}
}

// unjudgedBecause says why nothing was judged, or nothing.
func (t *truth) unjudgedBecause() string {
	switch {
	case t.judged > 0 || t.unjudged+len(t.claims) == 0:
		return ""
	case t.contract.header.Entries:
		return "whether release told the truth was not judged: " + entriesUnseen
	}
	return "whether extend and release told the truth was not judged: " + keysUnseen
}
