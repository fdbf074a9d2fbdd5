package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

	"time"

	"github.com/lockstorm/lockstorm/history"
)

// competitors counts the tokens of a resource that may have keys on nodes. A token
// competes from the call of acquire until the try is refused or a release has returned
// OK. After a lapse, or a release that was not confirmed, it may have left keys and
// competes for another longest TTL. After the client's death it competes for two, because
// a request may still be on its way. A hold without a TTL competes until a release has
// returned OK.
type competitors struct {
	open    int          // tokens that compete now
	settled history.Time // when the last of the others stopped

	latest history.Time // the last instant in which some began to compete
	began  int          // how many did
}

// free reports whether no other token competed during the try. A try that begins in the
// instant in which this one returns does not count.
func (r *competitors) free(a attempt) bool {
	began := 0
	if r.latest == a.at {
		began = r.began
	}
	return a.call < a.at && r.open-began == 1 && r.settled <= a.call
}

func (t *tolerance) compete(h *timeline.Hold, now history.Time) {
	competing := t.competing.Of(h)
	if *competing {
		return
	}
	*competing = true
	r := t.competitors.Of(h.Resource)
	r.open++
	if r.latest != now {
		r.latest, r.began = now, 0
	}
	r.began++
}

// stop ends the competition of a hold at an instant.
func (t *tolerance) stop(h *timeline.Hold, then history.Time) {
	if competing := t.competing.Of(h); *competing {
		*competing = false
		r := t.competitors.Of(h.Resource)
		r.open--
		r.settled = max(r.settled, then)
	}
}

// departure is an event after which a hold, or all holds of a client, may stop competing.
type departure struct {
	kind    history.Kind
	hold    *timeline.Hold
	client  *timeline.Client
	outcome history.Outcome
	at      history.Time
}

// follow follows which tokens compete. They stop at the end of the instant.
func (t *tolerance) follow(f *timeline.Fact) {
	h := f.Hold
	switch f.Kind {
	case history.Kill:
		t.leaving = append(t.leaving, departure{kind: f.Kind, client: f.Actor, at: f.Time})
	case history.Released, history.Lapse:
		if h != nil {
			t.leaving = append(t.leaving, departure{kind: f.Kind, hold: h, outcome: f.Outcome, at: f.Time})
		}
	case history.Acquire, history.Extended:
		if h != nil && (!h.Client.Dead || h.Client.Died == f.Time) {
			t.compete(h, f.Time)
		}
		if h != nil && f.Kind == history.Acquire {
			t.called = append(t.called, h)
		}
	}
}

// stopCompeting handles the departures of the instant: releases first, then lapses, deaths
// last.
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

// retreat lets a hold, or all holds of a dead client, compete only as long as they may have
// left keys.
func (t *tolerance) retreat(d departure) {
	switch h := d.hold; {
	case d.kind == history.Kill:
		for _, h := range d.client.Holds {
			if !h.Endless() || t.state.DiesWithClient(h) {
				t.stop(h, d.at.Add(2*t.ttl))
			}
		}
	case d.kind == history.Lapse:
		if h.Granted && h.Expired() {
			t.stop(h, d.at.Add(t.ttl))
		}
	case d.outcome == history.OK || !h.Endless() || t.state.DiesWithClient(h):
		t.stop(h, d.at.Add(t.lingering(d.outcome)))
	}
}

func (t *tolerance) lingering(o history.Outcome) time.Duration {
	if o == history.OK {
		return 0
	}
	return t.ttl
}
