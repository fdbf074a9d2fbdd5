package timeline

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Electorate is the nodes whose keys hold a lock, with their votes.
type Electorate struct{ history.Electorate }

// ElectorateOf returns the electorate of the lock.
func ElectorateOf(h history.Header) Electorate { return Electorate{h.Electorate()} }

// AllAlike is n nodes with one vote each.
func AllAlike(n int) Electorate { return Electorate{history.Alike(n)} }

// Nodes returns the nodes that vote.
func (e Electorate) Nodes() Nodes { return Nodes(e.Voters) }

// Quorum reports whether the set contains a quorum.
func (e Electorate) Quorum(s Nodes) bool { return e.Count(uint64(s)) >= e.Needed() }

// Nodes is a set of nodes, numbered from 1 to 64.
type Nodes uint64

// AllNodes is the first n nodes.
func AllNodes(n int) Nodes { return Nodes(1)<<n - 1 }

// Node returns the set of one node; of a number that no node has, none.
func Node(n int) Nodes {
	if n < 1 {
		return 0
	}
	return 1 << (n - 1)
}

// With returns the set with a node.
func (s Nodes) With(n int) Nodes { return s | Node(n) }

// Without returns the set without a node.
func (s Nodes) Without(n int) Nodes { return s &^ Node(n) }

// First returns the lowest node of a set that is not empty.
func (s Nodes) First() int { return bits.TrailingZeros64(uint64(s)) + 1 }

// Has reports whether the set contains a node.
func (s Nodes) Has(n int) bool { return s&Node(n) != 0 }

// Count returns the number of nodes.
func (s Nodes) Count() int { return bits.OnesCount64(uint64(s)) }

// List returns the numbers of the nodes, in ascending order.
func (s Nodes) List() (list []int) {
	for ; s != 0; s = s.Without(s.First()) {
		list = append(list, s.First())
	}
	return list
}

// String names the nodes, as in "nodes 1, 2 and 5" or "nodes 1 to 5".
func (s Nodes) String() string {
	var list []string
	for _, n := range s.List() {
		list = append(list, fmt.Sprint(n))
	}
	last := len(list) - 1
	switch {
	case last < 0:
		return "no node"
	case last == 0:
		return "node " + list[0]
	case last > 1 && s>>(s.First()-1) == AllNodes(last+1):
		return "nodes " + list[0] + " to " + list[last]
	}
	return "nodes " + strings.Join(list[:last], ", ") + " and " + list[last]
}

// Comeback is the return of a server with less state than it had.
type Comeback struct {
	Node int
	At   history.Time
	How  string
	Down history.Time // when it went down
}

func (t *Timeline) nodeDown(f *Fact, _ bool) bool {
	if !t.Down.Has(f.Node) {
		t.downed[f.Node] = f.Time
	}
	t.Down = t.Down.With(f.Node)
	t.silence(f.Node, Forever)
	return true
}

func (t *Timeline) nodeUp(f *Fact, force bool) bool {
	if !t.Down.Has(f.Node) {
		if !force {
			return false
		}
		t.contradict("node %d comes up at %s, but it was not down", f.Node, textfmt.Instant(f.Time))
	}
	t.Down = t.Down.Without(f.Node)
	t.Started[f.Node] = f.Time
	if t.quarantine > 0 && !strings.HasSuffix(f.Detail, history.SameRun) {
		if t.quarantinedUntil == nil {
			t.quarantinedUntil = map[int]history.Time{}
		}
		t.quarantinedUntil[f.Node] = f.Time.Add(t.quarantine)
	}
	t.silence(f.Node, max(f.Time, t.quarantinedUntil[f.Node]))
	if f.Detail != "" && f.Detail != history.WithItsKeys && f.Detail != history.WithAllItsKeys {
		t.LastEmptied = Comeback{Node: f.Node, At: f.Time, How: f.Detail}
		t.Comebacks = append(Without(t.Comebacks, func(v *Comeback) bool { return v.Node == f.Node }), t.LastEmptied)
		t.Comebacks[len(t.Comebacks)-1].Down = t.downed[f.Node]
	}
	return true
}

func (t *Timeline) leader(f *Fact, _ bool) bool {
	t.led, t.leaderless = f.Time, f.Node == 0
	if f.Detail != "" {
		t.ForgetfulLeader = Comeback{Node: f.Node, At: f.Time, How: f.Detail}
	}
	return true
}

func (t *Timeline) entriesSeen(f *Fact, _ bool) bool {
	f.WaitedSince = f.Sent
	if f.Node < len(t.seen) {
		t.seen[f.Node], t.seenSince[f.Node] = max(t.seen[f.Node], f.Sent), f.Since
		if f.Since > t.Answered[f.Node] { // the watch had to begin anew
			f.WaitedSince = t.Answered[f.Node]
		}
		t.Answered[f.Node] = f.Time
	}
	return true
}

// WatchedNodes returns the nodes whose answers to a watch are recorded; all of them if the store's are.
func (t *Timeline) WatchedNodes() Nodes {
	if t.Header.Watched && (t.Header.Keys || t.Header.Entries) {
		return AllNodes(t.Header.Nodes)
	}
	return 0
}

// Silence returns how long a watch has waited for its answer.
func (f *Fact) Silence() time.Duration { return f.Time.Sub(f.WaitedSince) }

// SilentNodes returns the nodes that have not answered their watch for longer than a time: nobody can tell
// whether they are in reach. If the store has not, they are all nodes.
func (t *Timeline) SilentNodes(now history.Time, patience time.Duration) (s Nodes) {
	for n, at := range t.Answered {
		switch {
		case now.Sub(at) <= patience:
		case n == 0 && t.Header.Entries:
			return AllNodes(t.Header.Nodes)
		case n > 0 && t.Header.Keys:
			s = s.With(n)
		}
	}
	return s
}

// SeenUpTo returns up to when all changes of a node's keys, or of a store's entries (0), are recorded.
func (t *Timeline) SeenUpTo(node int) history.Time {
	if node < len(t.seen) {
		return t.seen[node]
	}
	return 0
}

// Undisturbed reports whether nothing was in the client's way to the store since an instant: no
// link was down, no node was, and the leader has not changed. With a node down the store may be
// well; but the client may have been connected to that one.
func (t *Timeline) Undisturbed(c *Client, then history.Time) bool {
	if c.Unlinked != 0 || t.Down != 0 || t.leaderless || t.led > then {
		return false
	}
	for _, at := range []map[int]history.Time{c.Relinked, t.Started} {
		for _, when := range at {
			if when >= then {
				return false
			}
		}
	}
	return true
}

// HappenedSince reports whether something has happened to the node since an instant.
func HappenedSince(last map[int]history.Time, node int, then history.Time) bool {
	at, ever := last[node]
	return ever && at >= then
}
