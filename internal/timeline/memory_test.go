package timeline

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// Law: the timeline of a history without lapses forgets the deadlines of holds that are over.
func TestDeadlinesOfThePastAreForgotten(t *testing.T) {
	line := New(history.Header{Nodes: 1, Clients: 1, UntilClock: history.FileClock})
	const far = 1 << 40
	for i := range history.Time(10_000) {
		for j, e := range []history.Event{
			{Kind: history.Acquire}, {Kind: history.Granted, Until: far + int64(i)},
			{Kind: history.Release}, {Kind: history.Released, Outcome: history.OK},
		} {
			e.Time, e.Client, e.Resource, e.Token = 4*i+history.Time(j), 1, "r", fmt.Sprint(i)
			line.Record(&e)
		}
	}
	if n := len(line.deadlines); n > 16 {
		t.Errorf("%d deadlines are remembered, want at most 16", n)
	}
}
