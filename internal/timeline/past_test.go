package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// A hold has the windows of both kinds. Past its validity the client works on, until it is extended or learns
// that the lock is lost. Two grants under one token are two holds.
func TestPastHolds(t *testing.T) {
	at := func(time history.Time, k history.Kind, until int64) *history.Event {
		return &history.Event{Time: time, Kind: k, Client: 1, Resource: "r", Token: "a", Until: until}
	}
	past := timeline.PastOf(history.Header{Nodes: 3, Clients: 1, UntilClock: history.ClientClock}, slices.Values([]*history.Event{
		at(0, history.Acquire, 0), at(1, history.Granted, 9), at(9, history.Lapse, 9),
		at(11, history.Extend, 20), at(12, history.Extended, 20), at(20, history.Lapse, 20), at(22, history.Lost, 0),
		at(23, history.Release, 0), at(24, history.Released, 0),
		at(30, history.Acquire, 0), at(31, history.Granted, 40), at(35, history.End, 0),
	}))
	var got []string
	for _, h := range past.Holds {
		for _, p := range h.Parts() {
			got = append(got, fmt.Sprintf("grant at %d: %d-%d overdue %v open %v, %s", h.Granted, p.From, p.To, p.Overdue, p.Open, p.Window.Ending()))
		}
	}
	const want = `grant at 1: 1-9 overdue false open false, validity ends
grant at 1: 12-20 overdue false open false, validity ends
grant at 1: 9-12 overdue true open false, told of the loss
grant at 1: 20-22 overdue true open false, told of the loss
grant at 31: 31-35 overdue false open true, the history ends`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	for of, begins := range map[timeline.WindowKind][]history.Time{timeline.LeaseWindow: {1, 12, 31}, timeline.SectionWindow: {1, 31}} {
		var from []history.Time
		for _, w := range past.Windows(of) {
			from = append(from, w.From)
		}
		if !slices.Equal(from, begins) {
			t.Errorf("windows of kind %d begin at %v, want %v", of, from, begins)
		}
	}
	if i := past.Intervals[2]; i.Begin.Kind != history.Extend || i.First != 4 || i.Last != 5 {
		t.Errorf("the third interval is %+v; want the extension, which the events 4 and 5 record", i)
	}
}
