package history_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// A group passes on every event, in its order, however many there are.
func TestGroupPassesEventsOn(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 1000} {
		var direct, grouped history.Log
		g := history.NewGroup(&grouped)
		for i := range n {
			e := history.Event{Time: history.Time(i), Kind: history.Acquire, Client: i}
			direct.Record(&e)
			if i%2 == 0 {
				g.Record(&e)
			} else {
				*g.Next() = e
			}
		}
		g.Close()
		if !slices.Equal(direct, grouped) {
			t.Errorf("%d events: got %d", n, len(grouped))
		}
	}
}
