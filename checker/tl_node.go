package checker

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// electorate is the nodes whose keys hold a lock, with their votes.
type electorate struct{ history.Electorate }

// electorateOf returns the electorate of the lock.
func electorateOf(h history.Header) electorate { return electorate{h.Electorate()} }

// allAlike is n nodes with one vote each.
func allAlike(n int) electorate { return electorate{history.Alike(n)} }

func (e electorate) voters() nodes { return nodes(e.Voters) }

// has reports whether the set contains a quorum.
func (e electorate) has(s nodes) bool { return e.Count(uint64(s)) >= e.Needed() }

// nodes is a set of nodes, numbered from 1 to 64.
type nodes uint64

func allNodes(n int) nodes { return nodes(1)<<n - 1 }

// node returns the set of one node; of a number that no node has, none.
func node(n int) nodes {
	if n < 1 {
		return 0
	}
	return 1 << (n - 1)
}

func (s nodes) with(n int) nodes    { return s | node(n) }
func (s nodes) without(n int) nodes { return s &^ node(n) }

// first returns the lowest node of a set that is not empty.
func (s nodes) first() int { return bits.TrailingZeros64(uint64(s)) + 1 }

func (s nodes) has(n int) bool { return s&node(n) != 0 }
func (s nodes) count() int     { return bits.OnesCount64(uint64(s)) }

// String names the nodes, as in "nodes 1, 2 and 5" or "nodes 1 to 5".
func (s nodes) String() string {
	var list []string
	for rest := s; rest != 0; {
		n := rest.first()
		rest = rest.without(n)
		list = append(list, fmt.Sprint(n))
	}
	last := len(list) - 1
	switch {
	case last < 0:
		return "no node"
	case last == 0:
		return "node " + list[0]
	case last > 1 && s>>(s.first()-1) == allNodes(last+1):
		return "nodes " + list[0] + " to " + list[last]
	}
	return "nodes " + strings.Join(list[:last], ", ") + " and " + list[last]
}

// comeback is the return of a server with less state than it had.
type comeback struct {
	node int
	at   history.Time
	how  string
	down history.Time // when it went down
}

func (l *state) nodeDown(f *fact, _ bool) bool {
	if !l.down.has(f.Node) {
		l.downed[f.Node] = f.Time
	}
	l.down = l.down.with(f.Node)
	return true
}

func (l *state) nodeUp(f *fact, force bool) bool {
	if !l.down.has(f.Node) {
		if !force {
			return false
		}
		l.contradict("node %d comes up at %s, but it was not down", f.Node, textfmt.Instant(f.Time))
	}
	l.down = l.down.without(f.Node)
	l.started[f.Node] = f.Time
	if f.Detail != "" && f.Detail != history.WithItsKeys {
		l.emptied = comeback{node: f.Node, at: f.Time, how: f.Detail}
		l.comebacks = append(without(l.comebacks, func(v *comeback) bool { return v.node == f.Node }), l.emptied)
		l.comebacks[len(l.comebacks)-1].down = l.downed[f.Node]
	}
	return true
}

func (l *state) leader(f *fact, _ bool) bool {
	l.led, l.leaderless = f.Time, f.Node == 0
	if f.Detail != "" {
		l.forgetful = comeback{node: f.Node, at: f.Time, how: f.Detail}
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

// since reports whether something has happened to the node since an instant.
func since(last map[int]history.Time, node int, then history.Time) bool {
	at, ever := last[node]
	return ever && at >= then
}
