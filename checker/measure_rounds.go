package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// Rounds is how clients that tried at the same time came to a grant. A round is
// tries for a resource that nobody holds, each called while another of them is
// under way. It ends when one is granted, or when none is under way any more: the
// round was split if two or more took part.
type Rounds struct {
	SplitRounds int `json:"split_rounds" runs:"sum"`

	// RoundsToFirstGrant is with which of its tries the client that was first to be
	// granted a resource got it: the most of any resource, and 0 if none was granted.
	RoundsToFirstGrant int `json:"rounds_to_first_grant" runs:"max"`

	// MedianRounds is that of many runs: of those that had a grant.
	MedianRounds int `json:"median_rounds,omitempty" runs:"median>0 RoundsToFirstGrant"`
}

func (r *Rounds) figures(runs int) []Figure {
	if r.SplitRounds == 0 {
		return nil
	}
	f := Figure{"split votes", []string{fmt.Sprint(r.SplitRounds)}}
	if r.RoundsToFirstGrant > 0 {
		f.Parts = append(f.Parts, fmt.Sprintf("first grant with try %d at the latest", r.RoundsToFirstGrant))
		if runs > 1 {
			f.Parts = append(f.Parts, fmt.Sprintf("median of runs %d", r.MedianRounds))
		}
	}
	return []Figure{f}
}

type roundMeter struct {
	Rounds
	rounds perResource[round]
	joined perHold[int32] // the number of the round that a try takes part in; 0: none
}

// round is the tries that compete for a resource which nobody holds.
type round struct {
	number  int32 // of the present round, from 1
	open    int   // tries under way; 0: there is no round
	members int
	granted bool // the resource was granted at some time
}

func newRoundMeter(history.Header, *state) meter { return &roundMeter{} }

func (*roundMeter) wants() kinds {
	return kindSet(history.Acquire, history.Granted, reentered, history.Refused, history.Kill)
}

func (m *roundMeter) observe(f *fact) {
	switch h := f.hold; {
	case f.Kind == history.Kill:
		for _, h := range f.client.holds {
			if h.trying {
				m.leave(h)
			}
		}
	case h == nil:
	case f.Kind == history.Acquire:
		m.join(h)
	case f.Kind == history.Granted:
		m.succeed(h)
	case f.Kind == reentered:
		m.leave(f.try)
	case f.Kind == history.Refused:
		m.leave(h)
	}
}

// join makes a try take part in the present round, or begin one.
func (m *roundMeter) join(h *hold) {
	if h.client.dead || h.resource.holders > 0 {
		return
	}
	r := m.rounds.of(h.resource)
	if r.open == 0 {
		r.number++
		r.members = 0
	}
	r.open++
	r.members++
	*m.joined.of(h) = r.number
}

// leave ends a try that was not granted, and with the last the round.
func (m *roundMeter) leave(h *hold) {
	r, joined := m.rounds.of(h.resource), m.joined.of(h)
	if r.open == 0 || *joined != r.number {
		return
	}
	*joined = 0
	if r.open--; r.open == 0 && r.members > 1 {
		m.SplitRounds++
	}
}

// succeed ends the present round with a grant.
func (m *roundMeter) succeed(h *hold) {
	r := m.rounds.of(h.resource)
	r.open = 0
	if r.granted {
		return
	}
	r.granted = true
	tries := 1
	if w := h.client.row(h.resource); w != nil {
		tries += w.tries
	}
	m.RoundsToFirstGrant = max(m.RoundsToFirstGrant, tries)
}

func (m *roundMeter) measure(all *Measurements, _ history.Time) { all.Rounds = m.Rounds }
