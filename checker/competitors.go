package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// competitors tells when the tokens of a resource may have keys on nodes: a token
// competes from the call of acquire until the try is refused or a release has
// returned OK. One that ended in another way, by a lapse, by a release that
// could not be confirmed or by the client's death, may have left keys, and
// competes for a further longest TTL; after a death for two of them, because
// something may still have been on its way. A hold that nothing but a release ends
// competes until one has returned OK.
type competitors struct {
	open    int          // tokens that compete until further notice
	settled history.Time // when the last of the others stopped to

	latest history.Time // the last instant in which some began to compete
	began  int          // and how many
}

// free reports whether nobody else competed during the try, which itself still
// does. A try that begins as this one returns does not compete with it.
func (r *competitors) free(a attempt) bool {
	began := 0
	if r.latest == a.at {
		began = r.began
	}
	return a.call < a.at && r.open-began == 1 && r.settled <= a.call
}

func (h *hold) compete(now history.Time) {
	if h.competing {
		return
	}
	h.competing = true
	r := &h.resource.competitors
	r.open++
	if r.latest != now {
		r.latest, r.began = now, 0
	}
	r.began++
}

// retreat lets the hold compete until then and no longer.
func (h *hold) retreat(then history.Time) {
	if h.competing {
		h.competing = false
		h.resource.competitors.open--
		h.resource.competitors.settled = max(h.resource.competitors.settled, then)
	}
}

// departure is an event after which a hold, or all of a client's, may compete no more.
type departure struct {
	kind    history.Kind
	hold    *hold
	client  *client
	outcome history.Outcome
	at      history.Time
}

// competitors follows who competes. Who retreats does so at the end of the instant.
func (t *tolerance) competitors(f *fact) {
	h := f.hold
	switch f.Kind {
	case history.Kill:
		t.leaving = append(t.leaving, departure{kind: f.Kind, client: f.client, at: f.Time})
	case history.Released, history.Lapse:
		if h != nil {
			t.leaving = append(t.leaving, departure{kind: f.Kind, hold: h, outcome: f.Outcome, at: f.Time})
		}
	case history.Acquire, history.Extended:
		if h != nil && (!h.client.dead || h.client.died == f.Time) {
			h.compete(f.Time)
		}
		if h != nil && f.Kind == history.Acquire {
			t.called = append(t.called, h)
		}
	}
}

// stopCompeting lets those go who have left in this instant: first who has released, then those
// whose validity is over, and the dead last.
func (t *tolerance) stopCompeting() {
	for _, kind := range []history.Kind{history.Released, history.Lapse, history.Kill} {
		for _, d := range t.leaving {
			if d.kind == kind {
				t.retreat(d)
			}
		}
	}
	t.leaving = t.leaving[:0]
}

// retreat lets a hold, or all of a dead client's, compete for as long as they may have
// left something behind, and no longer.
func (t *tolerance) retreat(d departure) {
	switch h := d.hold; {
	case d.kind == history.Kill:
		for _, h := range d.client.holds {
			if !h.endless() {
				h.retreat(d.at.Add(2 * t.ttl))
			}
		}
	case d.kind == history.Lapse:
		if h.returned && h.expired() {
			h.retreat(d.at.Add(t.ttl))
		}
	case d.outcome == history.OK || !h.endless():
		h.retreat(d.at.Add(t.lingering(d.outcome)))
	}
}

func (t *tolerance) lingering(o history.Outcome) time.Duration {
	if o == history.OK {
		return 0
	}
	return t.ttl
}
