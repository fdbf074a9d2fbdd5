package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

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
	f.waited = f.Sent
	if f.Node < len(l.seen) {
		l.seen[f.Node] = max(l.seen[f.Node], f.Sent)
		if f.Since > l.answered[f.Node] { // the watch had to begin anew
			f.waited = l.answered[f.Node]
		}
		l.answered[f.Node] = f.Time
	}
	return true
}

// watched returns the nodes whose answers to a watch are recorded; all of them if the store's are.
func (l *state) watched() nodes {
	if l.header.Watched && (l.header.Keys || l.header.Entries) {
		return allNodes(l.header.Nodes)
	}
	return 0
}

// silence returns how long a watch has waited for its answer.
func (f *fact) silence() time.Duration { return f.Time.Sub(f.waited) }

// silent returns the nodes that have not answered their watch for longer than a time: nobody can tell
// whether they are in reach. If the store has not, they are all nodes.
func (l *state) silent(now history.Time, patience time.Duration) (s nodes) {
	for n, at := range l.answered {
		switch {
		case now.Sub(at) <= patience:
		case n == 0 && l.header.Entries:
			return allNodes(l.header.Nodes)
		case n > 0 && l.header.Keys:
			s = s.with(n)
		}
	}
	return s
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
