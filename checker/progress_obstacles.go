package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// keptKey is the key of a resource on a node, as deadlock freedom follows it.
type keptKey struct {
	node     int
	there    bool // false: it is gone, or was never set
	token    string
	client   int // that set it; 0: not known
	set      history.Time
	extended history.Time // when it was last; [timeline.LongAgo]: never
	by       int          // the client that extended it
	endless  bool         // it has no expiry
	late     bool         // no try for it was under way when it was set
	tried    history.Time // when its try had ended, if it is late and that is known
	passed   bool         // it stood in nobody's way: somebody was granted the lock beside it
	end      ending       // how its try or hold ended; the zero value: it goes on
	reason   string       // of a refusal
}

// given returns when the key was last given its time to live.
func (k *keptKey) given() history.Time { return max(k.set, k.extended) }

// keyNews is a key that a node set, lost or extended.
type keyNews struct {
	resource *timeline.Resource
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
func (p *progress) key(n *keyNews, now history.Time) {
	w := p.of(n.resource)
	k := w.keyOn(n.node)
	switch {
	case n.kind == history.KeySet:
		if w.goneFrom == n.node {
			w.gone, w.goneFrom = *k, 0
		}
		h, set := n.resource.Find(n.token), now
		if k.there {
			set = k.set
		}
		*k = keptKey{node: n.node, there: true, token: n.token, client: n.client, set: set, extended: timeline.LongAgo, endless: n.endless, late: (h == nil || h.Over && h.EndedAt < now) && !p.timeline.Header.Watched}
		if h != nil && k.late {
			k.tried = h.EndedAt
		}
	case !k.there:
	case n.kind == history.KeyExtended:
		k.extended, k.by, k.endless = now, n.client, n.endless
	case n.kind == history.KeyGone:
		k.there, w.goneFrom, w.goneAt = false, n.node, now
		if n.expired && p.slow(k) && !p.timeline.Header.Watched {
			if k.set <= p.start(w) {
				w.clear, w.long = now, false
			}
			set := k.set
			p.long = timeline.Without(p.long, func(l *longWait) bool { return l.resource == n.resource && set <= l.start && l.at <= now })
		}
	}
}

// keyOn returns the key on a node, which may be gone. The pointer is valid until the next call.
func (w *waiting) keyOn(node int) *keptKey {
	if node >= len(w.kept) {
		w.kept = append(w.kept, make([]keptKey, node+1-len(w.kept))...)
	}
	return &w.kept[node]
}

// lastGone returns the last key that went away.
func (w *waiting) lastGone() keptKey {
	if w.goneFrom > 0 {
		return *w.keyOn(w.goneFrom)
	}
	return w.gone
}

// slow reports whether a fault can have made the clock of the key's node slow, so that it keeps the key
// for longer.
func (p *progress) slow(k *keptKey) bool {
	return p.excuses.slow(k.node, k.given(), k.given().Add(p.ttl))
}

// endKeys notes on the keys of a token how its try or hold ended.
func (w *waiting) endKeys(h *timeline.Hold, by history.Kind, at history.Time, reason string) {
	for i := range w.kept {
		if k := &w.kept[i]; k.there && k.token == h.Token && k.end == (ending{}) {
			k.end, k.reason = ending{by, h.Client.Number, at}, reason
		}
	}
}

// pass notes that a hold was granted beside the keys of others, which were there when it was called.
func (w *waiting) pass(h *timeline.Hold) {
	for i := range w.kept {
		if k := &w.kept[i]; k.there && k.token != h.Token && k.set < h.Acquire.At {
			k.passed = true
		}
	}
}

// inTheWay lists the keys of others that stand in the way of a try.
func (w *waiting) inTheWay(h *timeline.Hold) (list []keptKey) {
	for _, k := range w.kept {
		if k.there && k.token != h.Token && !k.passed {
			list = append(list, k)
		}
	}
	return list
}

// surelyInTheWay lists those of inTheWay that are there now. What a watch reports is late, so of that none is sure.
func (p *progress) surelyInTheWay(h *timeline.Hold) []keptKey {
	if p.timeline.Header.Watched {
		return nil
	}
	return p.of(h.Resource).inTheWay(h)
}

// blocked reports whether keys that should have expired before the wait became too long, by right
// clocks, keep the try from a quorum. No other fault can have caused that.
func (p *progress) blocked(h *timeline.Hold) bool {
	w, stale := p.of(h.Resource), timeline.Nodes(0)
	for _, k := range p.surelyInTheWay(h) {
		if k.given() <= p.start(w) && !p.slow(&k) {
			stale = stale.With(k.node)
		}
	}
	return stale != 0 && !p.needed.Quorum(p.reached(h)&^stale)
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
func (p *progress) causes(h *timeline.Hold, now history.Time) []Cause {
	r := h.Resource
	for _, o := range r.Holds {
		expires := func(k keptKey) bool { return k.token == o.Token && !k.endless } // too late
		if o.Leased() && o.Orphaned() && !slices.ContainsFunc(p.surelyInTheWay(h), expires) {
			died := Event{Role: RoleFault, From: o.GrantedAt, To: o.Client.Died, Client: o.Client.Number, Resource: r.Name, Token: o.Token}
			return broken(Releases, died.say("client %d, which was granted it at %s without an end, died at %s", died.Client, at(o.GrantedAt), at(died.To)))
		}
	}
	start, slow, old := p.start(p.of(r)), timeline.Nodes(0), false
	for _, k := range p.surelyInTheWay(h) {
		switch {
		case k.set > start:
		case p.slow(&k) && k.extended <= start:
			slow = slow.With(k.node)
		default:
			old = true
		}
	}
	switch {
	case slow != 0:
		kept := Event{Role: RoleLoss, Nodes: listNodes(slow, nil), Resource: r.Name}
		return broken(KeysExpire, kept.say("%v still kept a key from before", slow))
	case old:
		return unbroken(p.obstacles(h, now, now)...)
	}
	if v := p.timeline.ForgetfulLeader; v.Node != 0 {
		return broken(StoreKeeps, tellLeader(v))
	}
	if clones := p.timeline.Faults.Clones(); len(clones) > 0 {
		return broken(DelaysDiffer, tellFaults(clones)...)
	}
	if o := p.lastOutlived(r, start, now); o != nil {
		return unbroken(o.event())
	}
	return unbroken(p.obstacles(h, now, now)...)
}

// maxObstacles bounds the keys, and the tries, that are told.
const maxObstacles = 3

// obstacles tells what stood in the way of a try, as far as the history shows it: the keys of others,
// how tries ended, and who else waits.
func (p *progress) obstacles(h *timeline.Hold, from, now history.Time) (told []Event) {
	w := p.of(h.Resource)
	switch header := p.timeline.Header; {
	case timeline.ElectorateOf(header).None():
	case timeline.ExactKeys(header):
		told = p.tellKeys(h, from, now)
	case header.Watched && header.Keys:
		told = p.tellReported(h)
	case !header.Keys:
		told = []Event{{Role: RoleUnseen, Text: noKeys}}
	}
	if len(w.ends) > 0 {
		told = append(told, w.tellEnds(h.Resource.Name))
	}
	others := 0
	for _, o := range h.Resource.Holds {
		if o != h && *p.waits.Of(o) && !o.Granted { // a grant of this instant is not settled yet
			if others++; others <= maxObstacles {
				e := Event{Role: RoleWait, From: o.Acquire.At, Client: o.Client.Number, Resource: h.Resource.Name, Token: o.Token}
				told = append(told, e.say("client %d (token %s) still waited, having called acquire at %s", e.Client, short(o.Token), at(o.Acquire.At)))
			}
		}
	}
	if len(told) == 0 {
		return []Event{{Role: RoleWait, Text: "the lock itself granted it to nobody"}}
	}
	return told
}

// tellEnds tells how tries ended since the last grant.
func (w *waiting) tellEnds(resource string) Event {
	count, ways := 0, []string(nil)
	for _, e := range w.ends {
		count += e.count
		if e.reason != "" {
			ways = append(ways, fmt.Sprintf("%s (%d)", e.reason, e.count))
		}
	}
	e := Event{Role: RoleWait, Resource: resource, Text: "1 try was refused"}
	if count != 1 {
		e = e.say("%d tries in a row were refused", count)
	}
	if len(ways) > 0 {
		e.Text += ": " + strings.Join(ways, ", ")
	}
	return e
}

// tellKeys tells the keys of others that stand in the way, or else the last that did after an instant, or
// that there are none. Keys of a token are told together.
func (p *progress) tellKeys(h *timeline.Hold, from, now history.Time) (told []Event) {
	w, resource := p.of(h.Resource), h.Resource.Name
	keys := w.inTheWay(h)
	if from < now {
		keys = withoutGranted(keys, h.Resource, now)
	} else { // the wait goes on, or has just ended
		from = p.start(w)
	}
	if gone := w.lastGone(); len(keys) == 0 && w.goneAt > from && gone.token != h.Token {
		keys, now = append(keys, gone), w.goneAt
	}
	if len(keys) == 0 {
		return []Event{Event{Role: RoleWait, Resource: resource}.say("no recorded key of %s stood in the way", quoted(resource))}
	}
	return p.tellKept(resource, keys, now)
}

// withoutGranted leaves out the keys of who is granted the resource now, who was not in the way.
func withoutGranted(keys []keptKey, r *timeline.Resource, now history.Time) []keptKey {
	return slices.DeleteFunc(keys, func(k keptKey) bool {
		o := r.Find(k.token)
		return o != nil && o.Granted && o.GrantedAt == now
	})
}

// tellReported tells the keys of others that a watch has reported, as far as it has seen them during the wait.
func (p *progress) tellReported(h *timeline.Hold) []Event {
	w, now := p.of(h.Resource), p.timeline.Now
	start := p.start(w)
	keys := slices.DeleteFunc(withoutGranted(w.inTheWay(h), h.Resource, now), func(k keptKey) bool { return p.timeline.SeenUpTo(k.node) <= start })
	for _, k := range keys {
		now = min(now, p.timeline.SeenUpTo(k.node))
	}
	return p.tellKept(h.Resource.Name, keys, now)
}

// tellKept tells keys that a resource has at an instant.
func (p *progress) tellKept(resource string, keys []keptKey, now history.Time) (told []Event) {
	slices.SortStableFunc(keys, func(a, b keptKey) int { return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.node, b.node)) })
	for len(keys) > 0 && len(told) < maxObstacles {
		first := keys[0]
		e := Event{Role: RoleLoss, Client: first.client, Resource: resource, Token: first.token}
		keys = timeline.Without(keys, func(k *keptKey) bool {
			if k.token != first.token {
				return false
			}
			e.Nodes = append(e.Nodes, NodeTime{Node: k.node, At: k.set})
			return true
		})
		whose := "a key"
		if first.client != 0 {
			whose = fmt.Sprintf("client %d's key", first.client)
		}
		told = append(told, e.say("%v kept %s (token %s), set %s%s", setOf(e.Nodes), whose, short(first.token), times(e.Nodes), p.about(&first, now)))
	}
	return told
}

// about says why a key stood in the way, and how its try or hold had ended.
func (p *progress) about(k *keptKey, now history.Time) (text string) {
	switch {
	case k.late && k.tried > 0:
		text = fmt.Sprintf(" by a request of a try that had ended at %s", at(k.tried))
	case k.late:
		text = " with no try for it under way"
	}
	end := k.end
	if c := p.timeline.Client(k.client); k.client != 0 && (end == (ending{}) || end.by == history.Lapse) && c.Dead {
		end = ending{history.Kill, k.client, c.Died}
	}
	slack := time.Millisecond // nodes count whole ones
	if p.timeline.Header.Watched {
		slack = p.ttl / 10 // a watch is late
	}
	switch lived := now.Sub(k.given()); {
	case k.endless:
		text += ", which had no expiry"
	case k.extended > end.at:
		text += fmt.Sprintf(", which %s went on to extend, last at %s", clientOrSome(k.by), at(k.extended))
	case lived > p.ttl+slack && !p.slow(k):
		text += fmt.Sprintf(", for %s, longer than the longest TTL, %v, and no fault made a clock slow there", textfmt.FourDigits(lived), p.ttl)
	}
	switch end.by {
	case history.Refused:
		text += fmt.Sprintf("; client %d had been refused at %s", end.client, at(end.at))
		if k.reason != "" {
			text += fmt.Sprintf(" (%s)", k.reason)
		}
	case history.Lost:
		text += fmt.Sprintf("; client %d had been told of its loss at %s", end.client, at(end.at))
	case history.Lapse:
		text += fmt.Sprintf("; its validity had ended at %s", at(end.at))
	case history.Kill:
		text += fmt.Sprintf("; client %d had died at %s", end.client, at(end.at))
	case history.Release:
		text += fmt.Sprintf("; client %d had called release at %s", end.client, at(end.at))
	}
	return text
}

// lastOutlived returns the last try since an instant that took longer than its TTL, or nil.
// Tries under way count, too.
func (p *progress) lastOutlived(r *timeline.Resource, from, now history.Time) *outlivedTry {
	if o := p.of(r).outlived; o != nil && o.at > from {
		return o
	}
	for _, h := range r.Holds {
		if h.Acquire.Open {
			if o := outlived(h, p.needed, now); o != nil {
				return o
			}
		}
	}
	return nil
}
