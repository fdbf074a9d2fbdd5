package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

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

func newGrantMeter(l *timeline.Timeline, d *demand) meter {
	return &grantMeter{known: l.Header.Entries}
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
