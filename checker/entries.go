package checker

import "github.com/lockstorm/lockstorm/history"

// stored is what is known of the entry that a hold has in a store.
type stored struct {
	there   bool // as of the last event about it
	claimed bool // the same when release was called
	deleted bool // by the client, or by whom is not known, since then
}

// entrySet, entryDeleted and entriesSeen follow the entries in a store.
func (l *state) entrySet(f *fact, _ bool) bool {
	f.about = l.resource(f.Resource)
	for _, h := range f.about.holds {
		if h.token == f.Token {
			h.keys.entry.there = true
		}
	}
	return true
}

func (l *state) entryDeleted(f *fact, _ bool) bool {
	f.about = l.resource(f.Resource)
	for _, h := range f.about.holds {
		if h.token != f.Token {
			continue
		}
		h.keys.entry.there = false
		if h.letGo && (f.Client == 0 || f.Client == h.client.number) {
			h.keys.entry.deleted = true
		}
	}
	return true
}

func (l *state) entriesSeen(f *fact, _ bool) bool {
	if f.Node < len(l.seen) {
		l.seen[f.Node] = max(l.seen[f.Node], f.Sent)
	}
	return true
}

// seenOf returns up to when all changes of a node's keys, or of a store's entries (0), are recorded.
func (l *state) seenOf(node int) history.Time {
	if node < len(l.seen) {
		return l.seen[node]
	}
	return 0
}

// undisturbed reports whether nothing was in the client's way to the store since an instant: no
// link was down, no node was, and the leader has not changed. With a node down the store may be
// well; but the client may have been connected to that one.
func (l *state) undisturbed(c *client, then history.Time) bool {
	if c.cut != 0 || l.down != 0 || l.leaderless || l.led > then {
		return false
	}
	for _, at := range []map[int]history.Time{c.mended, l.started} {
		for _, t := range at {
			if t >= then {
				return false
			}
		}
	}
	return true
}
