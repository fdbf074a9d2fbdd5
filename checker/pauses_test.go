package checker_test

import (
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/history"
)

// pause is a time for which a client stands still. One without an end lasts until its
// client's death.
type pause struct {
	client, from, to int
}

// drawPauses draws pauses of the clients of a history, many of which begin before an end of
// validity and last beyond it. No window changes by any.
func drawPauses(t *rapid.T, scripts []script) []pause {
	var pauses []pause
	last := map[int]int{} // by client: the end of its last pause
	for i := range scripts {
		s := &scripts[i]
		if rapid.IntRange(0, 2).Draw(t, "pauses?") == 0 {
			continue
		}
		near := rapid.SampledFrom([]int{s.call, s.until, s.until, s.until}).Draw(t, "pauses near")
		if near >= never {
			near = s.call
		}
		p := pause{client: s.client, from: max(0, near-rapid.IntRange(0, 3).Draw(t, "paused before"))}
		if p.to = near + rapid.IntRange(0, 6).Draw(t, "resumed after"); p.to > s.killed {
			p.to = never
		}
		if before, is := last[s.client]; is && p.from <= before || p.from > s.killed {
			continue
		}
		last[s.client] = p.to
		pauses = append(pauses, p)
	}
	return pauses
}

func pauseEvents(pauses []pause) []history.Event {
	var events []history.Event
	for _, p := range pauses {
		events = append(events, history.Event{Time: history.Time(p.from), Kind: history.Pause, Client: p.client})
		if p.to < never {
			events = append(events, history.Event{Time: history.Time(p.to), Kind: history.Resume, Client: p.client})
		}
	}
	return events
}
