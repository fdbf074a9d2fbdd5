package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
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
		f.Parts = append(f.Parts, textfmt.Ratio(w.Tries, w.Grants, "tries a grant"), textfmt.Ratio(w.Requests, w.Grants, "requests a grant"))
	}
	return []Figure{f}
}

func (w *Work) columns(*Measurements) []Column {
	return []Column{{"requests per grant", textfmt.Each(w.Requests, w.Grants), "requests: messages to nodes"}}
}

type workMeter struct {
	Work
}

func newWorkMeter(l *timeline.Timeline, d *demand) meter { return &workMeter{} }

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
	state   *timeline.Timeline
	keys    bool             // the history records them
	over    []*timeline.Hold // that were refused or released in this instant
	orphans timeline.PerResource[[]orphan]
}

// orphan is a key on a node whose try is over.
type orphan struct {
	node  int
	token string
}

func newOrphanMeter(l *timeline.Timeline, d *demand) meter {
	return &orphanMeter{state: l, keys: l.Header.Keys}
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

// settle records the keys left behind by tries that ended in this instant.
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

func newRejectionMeter(l *timeline.Timeline, d *demand) meter { return &rejectionMeter{} }

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
	state   *timeline.Timeline
	applied timeline.PerResource[history.Time] // the newest grant under which a write took effect
}

func newStalenessMeter(l *timeline.Timeline, d *demand) meter {
	l.FollowStragglers = true
	return &stalenessMeter{state: l}
}

func (*stalenessMeter) Wants() timeline.Kinds { return timeline.KindSet(history.Apply) }

func (m *stalenessMeter) Observe(f *timeline.Fact) {
	r := m.state.Resource(f.Resource)
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
