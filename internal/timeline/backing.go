package timeline

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// A node backs a hold while it votes for nobody else: it keeps the hold's token, or it has lost it and its vote is
// known not to count, because it is down or in quarantine. A node that has never had the token does not back the
// hold, even while it is down: it may come back with the token of another.
//
// A client that ignores a node in quarantine counts by its own clock. The timeline takes the quarantine to be as short as the
// lock's allowance for clocks permits: a clock that is fast by the most that the allowance covers.
func shortestQuarantine(h history.Header) time.Duration {
	if h.Quarantine == 0 || h.LongestTTL == 0 {
		return 0
	}
	return h.Quarantine - time.Duration(float64(h.Quarantine)/2*float64(h.Allowance)/float64(h.LongestTTL))
}

// silentUntil returns until when the vote of a node is known not to count, if it has lost a key at an instant.
func (t *Timeline) silentUntil(node int, lost history.Time) history.Time {
	if t.Down.Has(node) {
		return Forever
	}
	return max(lost, t.quarantinedUntil[node])
}

// silence notes until when the vote of a node does not count, for the holds whose keys it has lost and whose
// votes have not counted since.
func (t *Timeline) silence(node int, until history.Time) {
	for _, c := range t.Clients {
		for _, h := range c.Holds {
			if h.Keys.Past == nil {
				continue
			}
			for i := range h.Keys.Past.Lost {
				if v := &h.Keys.Past.Lost[i]; v.Node == node && v.Silent >= t.Now {
					v.Silent = until
				}
			}
		}
	}
}

// noteVote notes that a node has set the hold's key.
func (t *Timeline) noteVote(k *KeyChange) {
	keys := &k.Hold.Keys
	keys.Ignored = keys.Ignored.Without(k.Node)
	if k.Client != 0 && k.At < t.quarantinedUntil[k.Node] {
		keys.Ignored = keys.Ignored.With(k.Node)
	}
	t.makeEnds(keys)
	keys.setEnd(k.Node, k.ends)
}

func (t *Timeline) makeEnds(keys *Keys) {
	if keys.ends == nil {
		keys.ends = make([]history.Time, t.Header.Nodes)
	}
}

// setEnd notes when the key of a node ends.
func (k *Keys) setEnd(node int, at history.Time) {
	if uint(node-1) < uint(len(k.ends)) {
		k.ends[node-1] = at
	}
}

// End returns when the time to live of a node's key is over, if the node's clock runs on as it did when the key got
// it. Forever: it has none, or it is not known.
func (k *Keys) End(node int) history.Time {
	if uint(node-1) < uint(len(k.ends)) && k.ends[node-1] != 0 {
		return k.ends[node-1]
	}
	return Forever
}

// Divide notes the nodes that back a hold which begins in this instant, and back another one that is held. They back
// only the former: a node that two masters share, or one that set a key twice, gives its vote away. If both begin in
// this instant, such a node backs neither. Call Divide, with all holds that may begin in the instant, when its changes
// of keys are entered.
func (t *Timeline) Divide(holds []*Hold) {
	type division struct {
		of    *Hold
		nodes Nodes
	}
	var all []division
	begins := func(h *Hold) bool { return h.GrantedAt == t.Now || h.Windows[LeaseWindow].From == t.Now }
	for _, h := range holds {
		if !h.Leased() || !begins(h) {
			continue
		}
		for _, held := range h.Resource.Holds {
			if held == h || !held.Granted || !held.Leased() {
				continue
			}
			if both := held.Backers(t.Now+1) & h.Backers(t.Now+1); both != 0 {
				if all = append(all, division{held, both}); begins(held) {
					all = append(all, division{h, both})
				}
			}
		}
	}
	for _, d := range all { // at once, so that the order of the holds does not matter
		d.of.Keys.divided |= d.nodes
	}
}

// Divided returns the nodes that gave their vote to another hold, too.
func (k *Keys) Divided() Nodes { return k.divided }

// Backers returns the nodes that back the hold up to an instant, which is excluded, or for longer, if it loses no key
// in between.
func (h *Hold) Backers(until history.Time) Nodes {
	s := h.Keys.Set &^ h.Keys.Ignored
	if h.Keys.Past != nil {
		for i := range h.Keys.Past.Lost {
			if v := &h.Keys.Past.Lost[i]; v.Silent >= until && v.Silent > v.At { // even if a copy of its request set the key again
				s = s.With(v.Node)
			}
		}
	}
	return s &^ h.Keys.divided
}

// PlannedBackers are those of Backers whose keys live until then, if their clocks run on as they do.
func (h *Hold) PlannedBackers(until history.Time) Nodes {
	s := h.Backers(until)
	for rest := h.Keys.Set & s; rest != 0; rest = rest.Without(rest.First()) {
		if h.Keys.End(rest.First()) < until {
			s = s.Without(rest.First())
		}
	}
	return s
}

// BackedUntil returns the latest instant until which a quorum backs the hold, if it loses no key in between. LongAgo:
// none does now.
func (t *Timeline) BackedUntil(h *Hold, quorum Electorate) history.Time {
	switch {
	case t.Header.Entries && h.Keys.Entry.There || quorum.Quorum(h.Keys.Set&^h.Keys.Ignored&^h.Keys.divided):
		return Forever
	case t.Header.Entries || h.Keys.Past == nil:
		return LongAgo
	}
	latest := LongAgo
	for _, v := range h.Keys.Past.Lost {
		if v.Silent > max(latest, t.Now) && quorum.Quorum(h.Backers(v.Silent)) {
			latest = v.Silent
		}
	}
	return latest
}

// PlannedUntil returns until when a quorum backs the hold if it loses keys only when their time to live is over, and no
// node goes down or returns.
func (h *Hold) PlannedUntil(quorum Electorate) history.Time {
	latest := LongAgo
	consider := func(at history.Time) {
		if at > latest && quorum.Quorum(h.PlannedBackers(at)) {
			latest = at
		}
	}
	for s := h.Keys.Set; s != 0; s = s.Without(s.First()) {
		consider(h.Keys.End(s.First()))
	}
	if h.Keys.Past != nil {
		for i := range h.Keys.Past.Lost {
			consider(h.Keys.Past.Lost[i].Silent)
		}
	}
	return latest
}

// noteEnd notes when the key of a node ends that a watch reports. Of several ends the latest counts: nobody knows which of
// them the key had when a call returned.
func (t *Timeline) noteEnd(keys *Keys, f *Fact) {
	t.makeEnds(keys)
	if keys.Sent == 0 {
		keys.Sent = f.Sent
	}
	ends := f.Ends
	if ends == 0 { // not known, or never
		ends = Forever
	}
	if uint(f.Node-1) < uint(len(keys.ends)) {
		keys.setEnd(f.Node, max(keys.ends[f.Node-1], ends))
	}
}

// Seen returns the nodes that have been seen with the hold's key, of keys that a watch reports.
func (k *Keys) Seen() (s Nodes) {
	for i, ends := range k.ends {
		if ends != 0 {
			s = s.With(i + 1)
		}
	}
	return s
}

// MayKeep returns the nodes of a history with a watch that may keep the hold's key up to an instant, as they were when a
// call of the hold returned. surely are those of them whose key was seen with such an end, and unseen the nodes of
// which the watch has not yet reported everything up to the return. Where it began anew during the hold nothing is
// known. A key that is gone counts as one that was to live as long as it could.
func (t *Timeline) MayKeep(h *Hold, until, returned history.Time) (may, surely, unseen Nodes) {
	for n := 1; n <= t.Header.Nodes; n++ {
		ends := history.Time(0)
		if n <= len(h.Keys.ends) {
			ends = h.Keys.ends[n-1]
		}
		if ends >= until && ends != Forever {
			surely = surely.With(n)
		}
		late := t.seen[n] < returned
		if late {
			unseen = unseen.With(n)
		}
		if ends >= until || late || t.seenSince[n] > h.Acquire.At {
			may = may.With(n)
		}
	}
	return may, surely, unseen
}

// ReportedUnbacked returns the first instant since its grant at which no quorum backs the hold, by what a watch has
// reported, and the nodes that may back it then. Forever: no instant is known.
//
// The watch must have seen the key on a quorum. Otherwise nobody knows under which name the lock keeps it.
func (t *Timeline) ReportedUnbacked(h *Hold, quorum Electorate) (from history.Time, may Nodes) {
	from = Forever
	if h.Keys.Past == nil || !quorum.Quorum(h.Keys.Seen()) {
		return from, may
	}
	for _, n := range quorum.Nodes().List() {
		at, able := t.lacksSince(h, n), quorum.Nodes()
		if at >= from {
			continue
		}
		for _, other := range able.List() {
			if t.lacksSince(h, other) <= at && at <= t.seen[other] {
				able = able.Without(other)
			}
		}
		if !quorum.Quorum(able) {
			from, may = at, able
		}
	}
	return from, may
}

// lacksSince returns an instant from which on a node certainly does not back the hold, until that up to which its watch
// has reported everything. Forever: no such instant is known. A node backs the hold while it is down.
func (t *Timeline) lacksSince(h *Hold, node int) history.Time {
	since := h.Acquire.At
	lost := slices.IndexFunc(h.Keys.Past.Lost, func(v KeyLoss) bool { return v.Node == node })
	switch {
	case lost >= 0:
		since = h.Keys.Past.Lost[lost].At
	case h.Keys.Seen().Has(node):
		return Forever
	}
	if t.Down.Has(node) || t.seenSince[node] > since {
		return Forever
	}
	if since = max(since, t.Started[node], t.quarantinedUntil[node]); since > t.seen[node] {
		return Forever
	}
	return since
}

// MayKeepUntil returns until when a quorum may have kept the keys of a hold, as they were when a call returned.
func (t *Timeline) MayKeepUntil(h *Hold, quorum Electorate, returned history.Time) history.Time {
	latest := LongAgo
	for _, ends := range h.Keys.ends {
		if may, _, _ := t.MayKeep(h, ends, returned); ends > latest && ends != Forever && quorum.Quorum(may) {
			latest = ends
		}
	}
	return latest
}
