package checker

import "github.com/lockstorm/lockstorm/history"

// straggler is a hold that is over while a write of it may still come.
type straggler struct {
	client  int
	token   string
	granted history.Time
	writes  int
}

func (m *measures) rejected(f *fact) {
	m.Rejected++
	h := f.client.find(f.Event, atAnyStage)
	if h == nil || !h.returned || h.granted < h.resource.measured.newest {
		return
	}
	if w := &h.windows[leaseRule]; w.begun && !w.over {
		m.WronglyRejected++
	}
}

func (m *measures) applied(f *fact) {
	r := &m.ledger.resource(f.Resource).measured
	granted, known := f.hold.grantedAt()
	if f.hold == nil {
		granted, known = r.straggled(f.Client, f.Token)
	}
	if !known {
		return
	}
	if granted < r.applied {
		m.StaleApplies++
	}
	r.applied = max(r.applied, granted)
}

func (h *hold) grantedAt() (history.Time, bool) {
	if h == nil || !h.returned {
		return 0, false
	}
	return h.granted, true
}

// straggled returns the time of the grant under which a write was called that
// arrives only now, when the hold is over.
func (r *measured) straggled(client int, token string) (history.Time, bool) {
	for i, s := range r.stragglers {
		if s.token != token || client != 0 && s.client != client {
			continue
		}
		if r.stragglers[i].writes--; r.stragglers[i].writes == 0 {
			r.stragglers = remove(r.stragglers, r.stragglers[i])
		}
		return s.granted, true
	}
	return 0, false
}
