package checker

import "github.com/lockstorm/lockstorm/history"

// StaleWrites is what came too late and was accepted.
type StaleWrites struct {
	// StaleApplies is the number of writes that took effect under a grant
	// after one under a newer grant of the same resource.
	StaleApplies int `json:"stale_applies" runs:"sum"`
}

func (s *StaleWrites) figures(int) []Figure { return rarity(s.StaleApplies, "stale write") }

type stalenessMeter struct {
	StaleWrites
	state   *state
	applied perResource[history.Time] // the newest grant under which a write took effect
}

func newStalenessMeter(_ history.Header, l *state) meter {
	l.stragglers = true
	return &stalenessMeter{state: l}
}

func (*stalenessMeter) wants() kinds { return kindSet(history.Apply) }

func (m *stalenessMeter) observe(f *fact) {
	r := m.state.resource(f.Resource)
	granted, known := f.hold.grantedAt()
	if f.hold == nil {
		granted, known = r.straggled(f.Client, f.Token)
	}
	if !known {
		return
	}
	applied := m.applied.of(r)
	if granted < *applied {
		m.StaleApplies++
	}
	*applied = max(*applied, granted)
}

func (h *hold) grantedAt() (history.Time, bool) {
	if h == nil || !h.returned {
		return 0, false
	}
	return h.granted, true
}

func (m *stalenessMeter) measure(all *Measurements, _ history.Time) { all.StaleWrites = m.StaleWrites }
