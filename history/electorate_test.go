package history_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// Only what the header says of the lock votes, and more than half of it is a quorum.
func TestElectorate(t *testing.T) {
	for name, c := range map[string]struct {
		header history.Header
		nodes  uint64
		count  int
		quorum int
	}{
		"all":      {history.Header{Nodes: 5}, 0b10101, 3, 3},
		"four":     {history.Header{Nodes: 4}, 0b0011, 2, 3},
		"keepers":  {history.Header{Nodes: 5, Keepers: 1}, 0b10001, 1, 1},
		"weighted": {history.Header{Nodes: 3, Votes: []int{5, 0, 2}}, 0b110, 2, 4},
	} {
		e := c.header.Electorate()
		if got := e.Count(c.nodes); got != c.count || e.Needed() != c.quorum || e.None() {
			t.Errorf("%s: %d votes of a quorum of %d, want %d of %d", name, got, e.Needed(), c.count, c.quorum)
		}
	}
	if e := (history.Header{Nodes: 5, Keepers: -1}).Electorate(); !e.None() || e.Count(0b11111) != 0 {
		t.Errorf("a lock in a store has the electorate %+v: want none", e)
	}
}
