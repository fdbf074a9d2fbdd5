package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Queues is how clients that waited in a queue were woken.
type Queues struct {
	Woken int `json:"woken" runs:"sum"` // how often
	Herd  int `json:"herd" runs:"max"`  // the most tries that were woken between two grants of a resource
}

func (q *Queues) figures(int) []Figure {
	if q.Woken == 0 {
		return nil
	}
	return []Figure{{"woken", []string{
		textfmt.Count(q.Woken, "time"), fmt.Sprintf("at most %s between two grants", textfmt.Count(q.Herd, "client")),
	}}}
}

func (q *Queues) columns(m *Measurements) []Column {
	cell := "–"
	if q.Woken > 0 {
		cell = textfmt.Each(q.Woken, m.Grants)
	}
	return []Column{{"woken per grant", cell, "woken: clients that waited in a queue and were woken"}}
}

type queueMeter struct {
	Queues
	herds perResource[herd]
	woken perHold[int32] // the number of grants when the try was woken last, and one
}

// herd is who was woken since a resource was granted last.
type herd struct {
	grants int32
	tries  int
}

func newQueueMeter(history.Header, *state) meter { return &queueMeter{} }

func (*queueMeter) wants() kinds { return kindSet(history.Granted, history.Step) }

func (m *queueMeter) observe(f *fact) {
	switch {
	case f.Kind == history.Granted:
		r := m.herds.of(f.hold.resource)
		r.grants++
		r.tries = 0
	case f.Name == history.Woken:
		m.Woken++
		if f.hold != nil {
			m.wake(f.hold)
		}
	}
}

func (m *queueMeter) wake(h *hold) {
	r, woken := m.herds.of(h.resource), m.woken.of(h)
	if *woken == r.grants+1 {
		return // once more
	}
	*woken = r.grants + 1
	r.tries++
	m.Herd = max(m.Herd, r.tries)
}

func (m *queueMeter) measure(all *Measurements, _ history.Time) { all.Queues = m.Queues }
