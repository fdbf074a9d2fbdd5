package conform

import "slices"

// What only the rest of a run shows.

// expiries finds when keys expired, or would have. A version lasts at most as long as those that replaced it
// without making its life shorter.
func (p *planner) expiries() {
	for _, v := range slices.Backward(p.versions) {
		if v.expires = v.ends; v.gone != 0 {
			v.expires = v.gone
		}
		if v.next != nil {
			v.expires = max(min(v.expires, v.next.expires), v.next.at+1)
		}
		for _, w := range v.again {
			v.expires = min(v.expires, w.expires)
		}
	}
	for _, v := range p.versions {
		if v.of != nil {
			v.expires = v.of.expires
		}
	}
}

// leases finds for how long clients relied on rounds, and how long nodes kept their keys.
func (p *planner) leases() {
	for _, r := range p.rounds {
		r.lease, r.keep = p.lease(r), forever
	}
	for _, v := range p.versions {
		if v.round != nil {
			v.round.keep = min(v.round.keep, v.expires-v.at)
		}
	}
}

// lease returns for how long a client relied on a round. Nobody relies on one that was not granted, unless a
// fence was drawn under it: it gets what it would have had, had the client's clock been right.
func (p *planner) lease(r *roundPlan) Time {
	t := r.try
	if r.granted == 0 {
		lease := max(0, Time(r.ttl-p.recorder.lock.Allowance(r.ttl)))
		if t.draw != nil && r == t.set {
			lease = max(lease, t.drew(p.end)-r.read)
		}
		return lease
	}
	seen := p.end // when the client still relied on it, or no longer needed to
	if t.released != 0 {
		seen = t.released
	}
	var next *roundPlan // that replaced it
	if i := slices.Index(t.grants, r); i+1 < len(t.grants) {
		next = t.grants[i+1]
		seen = min(seen, next.back)
	}
	for _, l := range t.lapses {
		if (r == t.set || l.follows(r)) && (next == nil || !l.follows(next)) {
			return l.at - r.read
		}
	}
	return max(r.ends, seen) - r.read
}

// drew returns until when the client of a try that was refused may have drawn a fence: until its validity was over by
// its clock, or it gave up.
func (t *tryPlan) drew(end Time) Time {
	if t.refused != 0 {
		end = t.refused
	}
	if len(t.lapses) > 0 {
		end = min(end, t.lapses[0].at)
	}
	return end
}

// follows reports whether the end of validity was one that a round or a later one had granted. Until its grant
// is reported, the end before is watched.
func (l lapse) follows(r *roundPlan) bool {
	return l.order > r.granted || l.at < l.told && l.told == r.back
}
