package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// keptKey is a key of a resource on a node, as deadlock freedom follows it.
type keptKey struct {
	node     int
	token    string
	client   int // that set it; 0: not known
	set      history.Time
	extended history.Time // when it was last; 0: never
	by       int          // the client that extended it
	endless  bool         // it has no expiry
	late     bool         // no try for it was under way when it was set
	passed   bool         // it stood in nobody's way: somebody was granted the lock beside it
	end      End          // how its try or hold ended; the zero value: it goes on
	reason   string       // of a refusal
}

// given returns when the key was last given its time to live.
func (k *keptKey) given() history.Time { return max(k.set, k.extended) }

// keyNews is a key that a node set, lost or extended.
type keyNews struct {
	resource *resource
	node     int
	token    string
	client   int // who set or extended it
	kind     history.Kind
	expired  bool
	endless  bool
}

// key follows the keys on the nodes. If a key expires that was set before a wait began, then by the
// clock of its node the longest TTL had not passed before. That excuses the wait if a fault made the
// clock wrong. On a node with a right clock a key that lives longer is the lock's own doing.
func (p *progress) key(n keyNews, now history.Time) {
	w := p.of(n.resource)
	i := slices.IndexFunc(w.kept, func(k keptKey) bool { return k.node == n.node })
	switch {
	case n.kind == history.KeyExtended && i >= 0:
		k := &w.kept[i]
		k.extended, k.by, k.endless = now, n.client, n.endless
		return
	case n.kind == history.KeySet:
		h := n.resource.find(n.token)
		k := keptKey{node: n.node, token: n.token, client: n.client, set: now, endless: n.endless, late: h == nil || h.over && h.ended < now}
		if i >= 0 {
			k.set = w.kept[i].set
			w.kept = slices.Delete(w.kept, i, i+1)
		}
		if w.kept == nil {
			w.kept = make([]keptKey, 0, p.excuses.voters.count())
		}
		w.kept = append(w.kept, k)
		return
	case i < 0 || n.kind != history.KeyGone:
		return
	}
	k := w.kept[i]
	w.kept = slices.Delete(w.kept, i, i+1)
	if n.expired && p.slow(&k) {
		if k.set <= p.start(w) {
			w.clear, w.long = now, false
		}
		p.long = without(p.long, func(l *longWait) bool { return l.resource == n.resource && k.set <= l.start && l.at <= now })
	}
}

// slow reports whether a fault can have made the clock of the key's node slow, so that it keeps the key
// for longer.
func (p *progress) slow(k *keptKey) bool {
	return p.excuses.slow(k.node, k.given(), k.given().Add(p.ttl))
}

// endKeys notes on the keys of a token how its try or hold ended.
func (w *waiting) endKeys(h *hold, by history.Kind, at history.Time, reason string) {
	for i := range w.kept {
		if k := &w.kept[i]; k.token == h.token && k.end == (End{}) {
			k.end, k.reason = End{By: by.String(), Client: h.client.number, At: at}, reason
		}
	}
}

// pass notes that a hold was granted beside the keys of others, which were there when it was called.
func (w *waiting) pass(h *hold) {
	for i := range w.kept {
		if k := &w.kept[i]; k.token != h.token && k.set < h.acquire.at {
			k.passed = true
		}
	}
}

// inTheWay lists the keys of others that stand in the way of a try.
func (w *waiting) inTheWay(h *hold) (list []keptKey) {
	for _, k := range w.kept {
		if k.token != h.token && !k.passed {
			list = append(list, k)
		}
	}
	return list
}

// blocked reports whether keys that should have expired before the wait became too long, by right
// clocks, keep the try from a quorum. No other fault can have caused that.
func (p *progress) blocked(h *hold) bool {
	w, stale := p.of(h.resource), nodes(0)
	for _, k := range w.inTheWay(h) {
		if k.given() <= p.start(w) && !p.slow(&k) {
			stale = stale.with(k.node)
		}
	}
	return stale != 0 && !p.needed.has(p.reached(h)&^stale)
}

// tryEnd is a way in which tries ended.
type tryEnd struct {
	reason string
	count  int
}

// maxEnds bounds the ways that are told apart.
const maxEnds = 4

// ended counts how a try ended. Ways beyond the bound count as other ones.
func (w *waiting) ended(reason string) {
	if i := slices.IndexFunc(w.ends, func(e tryEnd) bool { return e.reason == reason }); i >= 0 {
		w.ends[i].count++
		return
	}
	if len(w.ends) == maxEnds {
		w.ends[maxEnds-1].reason = otherReasons
		w.ends[maxEnds-1].count++
		return
	}
	if w.ends == nil {
		w.ends = make([]tryEnd, 0, maxEnds)
	}
	w.ends = append(w.ends, tryEnd{reason, 1})
}

const otherReasons = "other reasons"

// causes returns what prevented the grant.
func (p *progress) causes(h *hold, now history.Time) []Cause {
	r := h.resource
	for _, o := range r.holds {
		if o.leased() && o.orphaned() {
			return broken(Releases, Statement{Kind: DiedHolding, Client: o.client.number, From: o.granted, At: o.client.died})
		}
	}
	start, slow, old := p.start(p.of(r)), nodes(0), false
	for _, k := range p.of(r).inTheWay(h) {
		switch {
		case k.set > start:
		case p.slow(&k) && k.extended <= start:
			slow = slow.with(k.node)
		default:
			old = true
		}
	}
	switch {
	case slow != 0:
		return broken(KeysExpire, Statement{Kind: OldKeys, Nodes: slow.listed(nil)})
	case old:
		return unbroken(p.faultLog, p.obstacles(h, now)...)
	}
	if v := p.state.forgetful; v.node != 0 {
		return broken(StoreKeeps, v.leads())
	}
	if clones := p.faultLog.clones(); len(clones) > 0 {
		return broken(DelaysDiffer, tellFaults(clones)...)
	}
	if o := p.lastOutlived(r, start, now); o != nil {
		return unbroken(p.faultLog, o.statement())
	}
	return unbroken(p.faultLog, p.obstacles(h, now)...)
}

// maxObstacles bounds the keys, and the tries, that are told.
const maxObstacles = 3

// obstacles tells what stood in the way of a try, as far as the history shows it: the keys of others,
// how tries ended, and who else waits.
func (p *progress) obstacles(h *hold, now history.Time) (told []Statement) {
	w := p.of(h.resource)
	switch header := p.state.header; {
	case electorateOf(header).None():
	case exactKeys(header):
		told = p.tellKeys(h, now)
	case !header.Keys:
		told = []Statement{{Kind: NoKeys}}
	}
	if len(w.ends) > 0 {
		s := Statement{Kind: TriesEnded, Resource: h.resource.name}
		var ways []string
		for _, e := range w.ends {
			s.Count += e.count
			if e.reason != "" {
				ways = append(ways, fmt.Sprintf("%s (%d)", e.reason, e.count))
			}
		}
		s.Detail = strings.Join(ways, ", ")
		told = append(told, s)
	}
	others := 0
	for _, o := range h.resource.holds {
		if o != h && *p.waits.of(o) {
			if others++; others <= maxObstacles {
				told = append(told, Statement{Kind: StillWaits, Client: o.client.number, Token: o.token, Call: o.acquire.at})
			}
		}
	}
	if len(told) == 0 {
		return []Statement{{Kind: LockGrantedNone}}
	}
	return told
}

// tellKeys tells the keys of others that stand in the way, or that there are none. Keys of a token are
// told together.
func (p *progress) tellKeys(h *hold, now history.Time) (told []Statement) {
	keys := p.of(h.resource).inTheWay(h)
	if len(keys) == 0 {
		return []Statement{{Kind: NoKeyInTheWay, Resource: h.resource.name}}
	}
	slices.SortStableFunc(keys, func(a, b keptKey) int { return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.node, b.node)) })
	for _, k := range keys {
		at := NodeTime{Node: k.node, At: k.set}
		if i := slices.IndexFunc(told, func(s Statement) bool { return s.Token == k.token }); i >= 0 {
			told[i].Nodes = append(told[i].Nodes, at)
			continue
		}
		told = append(told, p.tellKey(k, now))
	}
	return told[:min(len(told), maxObstacles)]
}

func (p *progress) tellKey(k keptKey, now history.Time) Statement {
	s := Statement{Kind: KeyInTheWay, Client: k.client, Token: k.token, Nodes: []NodeTime{{k.node, k.set}}, More: k.late, Left: k.reason}
	if k.end != (End{}) {
		s.End = &k.end
	}
	switch lived := now.Sub(k.given()); {
	case k.endless:
		s.Detail = withoutExpiry
	case k.extended > 0:
		s.Detail, s.Other, s.To = extendedKey, k.by, k.extended
	case lived > p.ttl && !p.slow(&k):
		s.Detail, s.For, s.TTL = outlivedTTL, lived, p.ttl
	}
	if c := p.state.client(k.client); k.client != 0 && s.End == nil && c.dead {
		s.End = &End{By: history.Kill.String(), Client: k.client, At: c.died}
	}
	return s
}

// The Details of [KeyInTheWay].
const (
	withoutExpiry = "no-expiry"
	extendedKey   = "extended"
	outlivedTTL   = "outlived"
)
