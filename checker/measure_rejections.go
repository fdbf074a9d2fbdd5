package checker

import "github.com/lockstorm/lockstorm/history"

// Rejections is what the guarded resource refused.
type Rejections struct {
	// Rejected is the number of accesses that the guarded resource refused.
	Rejected int `json:"rejected" runs:"sum"`

	// WronglyRejected are those of them whose client still held the lock, as its
	// validity goes, under the newest grant of all.
	WronglyRejected int `json:"wrongly_rejected" runs:"sum"`
}

func (r *Rejections) figures(int) []Figure {
	return append(rarity(r.Rejected, "rejected access"), rarity(r.WronglyRejected, "wrongly rejected access")...)
}

type rejectionMeter struct {
	Rejections
	newest perResource[history.Time] // grant
}

func newRejectionMeter(history.Header, *state) meter { return &rejectionMeter{} }

func (*rejectionMeter) wants() kinds {
	return kindSet(history.Granted, history.ReadDone, history.WriteDone)
}

func (m *rejectionMeter) observe(f *fact) {
	if f.Kind == history.Granted {
		*m.newest.of(f.hold.resource) = f.Time
		return
	}
	if f.Outcome != history.Declined {
		return
	}
	m.Rejected++
	h := f.client.find(f.Event, atAnyStage)
	if h == nil || !h.returned || h.granted < *m.newest.of(h.resource) {
		return
	}
	if h.leased() {
		m.WronglyRejected++
	}
}

func (m *rejectionMeter) measure(all *Measurements, _ history.Time) { all.Rejections = m.Rejections }
