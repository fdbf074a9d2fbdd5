package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Work is what the lock was asked for, and what that took.
type Work struct {
	// Tries is the number of calls of acquire, Grants that of those that
	// returned with the lock.
	Tries  int `json:"tries" runs:"sum"`
	Grants int `json:"grants" runs:"sum"`

	// Requests is how many messages clients sent for the lock: to acquire, to
	// extend and to release it.
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

func newWorkMeter(history.Header, *state) meter { return &workMeter{} }

func (*workMeter) wants() kinds {
	return kindSet(history.Acquire, history.Granted, reentered, history.Refused, history.Extended, history.ExtendFailed, history.Released)
}

func (w *workMeter) observe(f *fact) {
	switch f.Kind {
	case history.Acquire:
		w.Tries++
		return
	case history.Granted, reentered:
		w.Grants++
	}
	w.Requests += f.K
}

func (w *workMeter) measure(m *Measurements, _ history.Time) { m.Work = w.Work }
