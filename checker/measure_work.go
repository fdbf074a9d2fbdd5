package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Work is the number of requests for the lock, and their cost.
type Work struct {
	// Tries counts the calls of acquire; Grants those that returned with the lock.
	Tries  int `json:"tries" runs:"sum"`
	Grants int `json:"grants" runs:"sum"`

	// Requests counts the messages that clients sent to acquire, extend and release the lock.
	Requests int `json:"requests" runs:"sum"`
}

func (w *Work) figures(int) []Figure {
	f := Figure{"grants", []string{fmt.Sprintf("%d in %d tries", w.Grants, w.Tries)}}
	if w.Grants > 0 {
		f.Parts = append(f.Parts, textfmt.Ratio(w.Tries, w.Grants, "try")+" a grant", textfmt.Ratio(w.Requests, w.Grants, "request")+" a grant")
	}
	return []Figure{f}
}

func (w *Work) columns(*Measurements) []Column {
	return []Column{{"requests per grant", textfmt.Each(w.Requests, w.Grants), "requests: messages to nodes"}}
}

type workMeter struct {
	Work
}

func newWorkMeter(*timeline.Timeline, *demand) meter { return &workMeter{} }

func (*workMeter) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, timeline.Reentered, history.Refused, history.Extended, history.ExtendFailed, history.Released)
}

func (w *workMeter) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.Acquire:
		w.Tries++
		return
	case history.Granted, timeline.Reentered:
		w.Grants++
	}
	w.Requests += f.K
}

func (w *workMeter) measure(m *Measurements, _ history.Time) { m.Work = w.Work }

// Orphans is the keys left on nodes.
type Orphans struct {
	// OrphanKeys counts the keys that expired on a node after their try was refused or released,
	// because nobody had deleted them. It is 0 if the history does not record keys.
	OrphanKeys int `json:"orphan_keys" runs:"sum"`
}

func (o *Orphans) figures(int) []Figure {
	return rarity(o.OrphanKeys, "orphan key")
}

// rarity describes what does not happen in most runs.
func rarity(n int, thing string) []Figure {
	if n == 0 {
		return nil
	}
	return []Figure{{also, []string{textfmt.Count(n, thing)}}}
}

type orphanMeter struct {
	Orphans
	timeline *timeline.Timeline
	keys     bool             // the history records them
	over     []*timeline.Hold // that were refused or released in this instant
	orphans  timeline.PerResource[[]orphan]
}

// orphan is a key on a node whose try is over.
type orphan struct {
	node  int
	token string
}

func newOrphanMeter(line *timeline.Timeline, d *demand) meter {
	return &orphanMeter{timeline: line, keys: line.Header.Keys}
}

func (m *orphanMeter) Wants() timeline.Kinds {
	if !m.keys {
		return 0
	}
	return timeline.KindSet(history.Refused, history.Released, history.KeySet, history.KeyGone)
}

func (m *orphanMeter) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.Refused, history.Released:
		if f.Hold != nil {
			m.over = append(m.over, f.Hold)
		}
	case history.KeySet:
		m.keySet(f)
	case history.KeyGone:
		if m.disown(f.Locked, f.Node) && f.Reason == history.Expired {
			m.OrphanKeys++
		}
	}
}

// keySet records a key that is set after its try is over.
func (m *orphanMeter) keySet(f *timeline.Fact) {
	r := f.Locked
	m.disown(r, f.Node)
	if r.Find(f.Token) == nil && !f.Actor.Dead {
		m.adopt(r, orphan{f.Node, f.Token})
	}
}

func (*orphanMeter) Settles() timeline.Kinds {
	return timeline.KindSet(history.Refused, history.Released)
}

// Settle records the keys left behind by tries that ended in this instant.
func (m *orphanMeter) Settle() {
	for _, h := range m.over {
		for rest := h.Keys.Set; rest != 0; {
			n := rest.First()
			rest = rest.Without(n)
			m.adopt(h.Resource, orphan{n, h.Token})
		}
	}
	m.over = m.over[:0]
}

// adopt records an orphan. A node has one key for each resource.
func (m *orphanMeter) adopt(r *timeline.Resource, o orphan) {
	m.disown(r, o.node)
	list := m.orphans.Of(r)
	*list = append(*list, o)
}

// disown forgets the orphan of a node, and reports whether there was one.
func (m *orphanMeter) disown(r *timeline.Resource, node int) bool {
	list := m.orphans.Of(r)
	before := len(*list)
	if before == 0 {
		return false
	}
	*list = timeline.Without(*list, func(o *orphan) bool { return o.node == node })
	return len(*list) < before
}

func (m *orphanMeter) measure(all *Measurements, _ history.Time) { all.Orphans = m.Orphans }

// Rejections is the accesses that the guarded resource rejected.
type Rejections struct {
	// Rejected counts the accesses that the guarded resource rejected.
	Rejected int `json:"rejected" runs:"sum"`

	// WronglyRejected counts those whose client still held the lock, counted by validity, under the
	// newest grant.
	WronglyRejected int `json:"wrongly_rejected" runs:"sum"`
}

func (r *Rejections) figures(int) []Figure {
	return append(rarity(r.Rejected, "rejected access"), rarity(r.WronglyRejected, "wrongly rejected access")...)
}

type rejectionMeter struct {
	Rejections
	newest timeline.PerResource[history.Time] // grant
}

func newRejectionMeter(*timeline.Timeline, *demand) meter { return &rejectionMeter{} }

func (*rejectionMeter) Wants() timeline.Kinds {
	return timeline.KindSet(history.Granted, history.ReadDone, history.WriteDone)
}

func (m *rejectionMeter) Observe(f *timeline.Fact) {
	if f.Kind == history.Granted {
		*m.newest.Of(f.Hold.Resource) = f.Time
		return
	}
	if f.Outcome != history.Declined {
		return
	}
	m.Rejected++
	h := f.Actor.Find(f.Event, timeline.AnyStage)
	if h == nil || !h.Granted || h.GrantedAt < *m.newest.Of(h.Resource) {
		return
	}
	if h.Leased() {
		m.WronglyRejected++
	}
}

func (m *rejectionMeter) measure(all *Measurements, _ history.Time) { all.Rejections = m.Rejections }

// StaleWrites is the late writes that were accepted.
type StaleWrites struct {
	// StaleApplies counts the writes under a grant that took effect after a write under a newer
	// grant of the same resource.
	StaleApplies int `json:"stale_applies" runs:"sum"`
}

func (s *StaleWrites) figures(int) []Figure { return rarity(s.StaleApplies, "stale write") }

type stalenessMeter struct {
	StaleWrites
	timeline *timeline.Timeline
	applied  timeline.PerResource[history.Time] // the newest grant under which a write took effect
}

func newStalenessMeter(line *timeline.Timeline, d *demand) meter {
	line.FollowStragglers = true
	return &stalenessMeter{timeline: line}
}

func (*stalenessMeter) Wants() timeline.Kinds { return timeline.KindSet(history.Apply) }

func (m *stalenessMeter) Observe(f *timeline.Fact) {
	r := m.timeline.Resource(f.Resource)
	granted, known := grantedAt(f.Hold)
	if f.Hold == nil {
		granted, known = r.Straggled(f.Client, f.Token)
	}
	if !known {
		return
	}
	applied := m.applied.Of(r)
	if granted < *applied {
		m.StaleApplies++
	}
	*applied = max(*applied, granted)
}

func grantedAt(h *timeline.Hold) (history.Time, bool) {
	if h == nil || !h.Granted {
		return 0, false
	}
	return h.GrantedAt, true
}

func (m *stalenessMeter) measure(all *Measurements, _ history.Time) { all.StaleWrites = m.StaleWrites }

// GrantLosses is the acknowledged grants that a store has forgotten. A grant is forgotten if the
// client was told that it holds the lock, and a new leader of the store does not have the entry.
// Grants whose release was acknowledged before are not counted as forgotten: nobody misses them.
// Only histories with the changes of a store's entries are counted.
type GrantLosses struct {
	// StoredGrants counts the acknowledged grants.
	StoredGrants int `json:"stored_grants,omitempty" runs:"sum"`

	// ForgottenGrants counts those of them that were forgotten.
	ForgottenGrants int `json:"forgotten_grants,omitempty" runs:"sum"`

	// ForgottenGrantShare is their share; 0 if there were no grants.
	ForgottenGrantShare float64 `json:"forgotten_grant_share,omitempty"`
}

func (g *GrantLosses) derive() {
	g.ForgottenGrantShare = shareOf(g.ForgottenGrants, g.StoredGrants)
}

func (g *GrantLosses) figures(int) []Figure {
	if g.ForgottenGrants == 0 {
		return nil
	}
	return []Figure{{"forgotten", []string{fmt.Sprintf("%d of %d grants", g.ForgottenGrants, g.StoredGrants)}}}
}

// grantMeter follows the entries of grants by their tokens.
type grantMeter struct {
	GrantLosses
	known bool                    // the history has the changes of entries
	live  map[string]*storedGrant // nil: none so far
}

// storedGrant is a try, or a grant, with its entry.
type storedGrant struct {
	granted   bool
	at        history.Time // when it was granted
	set       bool         // the entry was recorded
	forgotten bool         // it was forgotten before the client was told of the grant
}

func newGrantMeter(line *timeline.Timeline, d *demand) meter {
	return &grantMeter{known: line.Header.Entries}
}

func (m *grantMeter) Wants() timeline.Kinds {
	if !m.known {
		return 0
	}
	return timeline.KindSet(history.Granted, history.Released, history.EntrySet, history.EntryDeleted, history.EntryGone, history.EntriesSeen)
}

func (m *grantMeter) Observe(f *timeline.Fact) {
	switch f.Kind {
	case history.Granted:
		m.granted(f)
	case history.Released:
		if f.Hold != nil && f.Outcome == history.OK {
			delete(m.live, f.Hold.Token)
		}
	case history.EntrySet:
		m.of(f.Token).set = true
	case history.EntryDeleted:
		delete(m.live, f.Token)
	case history.EntryGone:
		m.gone(f)
	case history.EntriesSeen:
		m.seen(f.Since, f.Sent)
	}
}

func (m *grantMeter) of(token string) *storedGrant {
	g := m.live[token]
	if g == nil {
		if m.live == nil {
			m.live = map[string]*storedGrant{}
		}
		g = &storedGrant{}
		m.live[token] = g
	}
	return g
}

func (m *grantMeter) granted(f *timeline.Fact) {
	if f.Hold == nil {
		return
	}
	g := m.of(f.Hold.Token)
	if g.granted { // again, to a holder that enters once more
		return
	}
	m.StoredGrants++
	g.granted, g.at = true, f.Time
	if g.forgotten {
		m.forget(f.Hold.Token)
	}
}

func (m *grantMeter) gone(f *timeline.Fact) {
	g := m.of(f.Token)
	switch {
	case f.Reason != history.Forgotten:
		delete(m.live, f.Token)
	case g.granted:
		m.forget(f.Token)
	default:
		g.forgotten = true
	}
}

// seen forgets the grants whose entries a watch would have reported by now. A leader that is lost
// can take changes with it that the watch has never seen.
func (m *grantMeter) seen(since, sent history.Time) {
	for token, g := range m.live {
		if g.granted && !g.set && since <= g.at && g.at < sent {
			m.forget(token)
		}
	}
}

func (m *grantMeter) forget(token string) {
	m.ForgottenGrants++
	delete(m.live, token)
}

func (m *grantMeter) measure(all *Measurements, _ history.Time) {
	m.derive()
	all.GrantLosses = m.GrantLosses
}

// UpdateLosses is the updates of guarded resources that were lost. An update reads the value and
// writes it plus one. It is lost if the final value lacks it, because a later write came from a
// client that had read before it. Resources with other writes are left out, and those whose
// accepted writes are not all recorded as applied.
type UpdateLosses struct {
	// Updates counts the updates that took effect, acknowledged or not.
	Updates int `json:"updates,omitempty" runs:"sum"`

	// LostUpdates counts those of them that were lost.
	LostUpdates int `json:"lost_updates,omitempty" runs:"sum"`

	// LostUpdateShare is their share; 0 if there were no updates.
	LostUpdateShare float64 `json:"lost_update_share,omitempty"`
}

func (u *UpdateLosses) derive() {
	u.LostUpdateShare = shareOf(u.LostUpdates, u.Updates)
}

func (u *UpdateLosses) figures(int) []Figure {
	if u.LostUpdates == 0 {
		return nil
	}
	return []Figure{{"lost updates", []string{fmt.Sprintf("%d of %d", u.LostUpdates, u.Updates)}}}
}

// updateMeter compares the number of updates with how much the value has grown.
type updateMeter struct {
	timeline  *timeline.Timeline
	resources timeline.PerResource[counter]
}

// counter is what is known of one resource.
type counter struct {
	updates    int
	before     int64 // the value before the first update
	value      int64 // after the last
	other      bool  // a write was not an update, or is not known
	unrecorded int   // writes that were accepted, and are not recorded as applied
}

func (c *counter) lost() int { return c.updates - int(c.value-c.before) }

func newUpdateMeter(line *timeline.Timeline, d *demand) meter { return &updateMeter{timeline: line} }

func (*updateMeter) Wants() timeline.Kinds { return timeline.KindSet(history.WriteDone, history.Apply) }

func (m *updateMeter) Observe(f *timeline.Fact) {
	c, s := m.resources.Of(m.timeline.Resource(f.Resource)), f.Section
	if f.Kind == history.WriteDone {
		if f.Outcome == history.OK && s != nil && !s.Applied {
			c.unrecorded++
		}
		return
	}
	if s != nil && s.Stage == timeline.Returned {
		c.unrecorded--
	}
	c.other = c.other || s == nil || s.Blind || s.Wrote != s.Read+1
	if c.updates == 0 {
		c.before = f.Value - 1
	}
	c.updates, c.value = c.updates+1, f.Value
}

func (m *updateMeter) measure(all *Measurements, _ history.Time) {
	u := &all.UpdateLosses
	*u = UpdateLosses{}
	m.resources.Each(func(c *counter) {
		if !c.other && c.unrecorded == 0 {
			u.Updates += c.updates
			u.LostUpdates += c.lost()
		}
	})
	u.derive()
}
