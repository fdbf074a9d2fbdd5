package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// prioritized returns the directions of a small network, and the priorities of a seed.
func prioritized(p nemesis.Priorities, seed uint64) ([]*linkDirection, *priorities) {
	s := setting(2, 3)
	s.Latency = nemesis.Distribution{Range: nemesis.Range{Max: time.Millisecond}}
	s.GuardLatency = &nemesis.Distribution{}
	n := newNetwork(s, seed)
	return n.varying(), newPriorities(p, &n, seed)
}

func TestPrioritiesSpreadOverTheRange(t *testing.T) {
	all, p := prioritized(nemesis.Priorities{Depth: 1, Messages: 10}, 1)
	if len(all) != 2*2*3 {
		t.Fatalf("%d directions: want 12, without those of the guarded resource", len(all))
	}
	var shares []uint64
	for range 2 { // they stay as they are
		shares = shares[:0]
		for i, l := range all {
			shares = append(shares, p.share(l, 1+i))
		}
	}
	slices.Sort(shares)
	for i, share := range shares {
		if want := uint64(math.MaxUint64) / 11 * uint64(i); share-want > 11 {
			t.Errorf("share %d is %d: want about %d", i, share, want)
		}
	}
}

// Law: each direction is the fastest, and each message the one from which on it is the slowest, as often
// as the guarantee of [nemesis.Priorities] needs.
func TestPrioritiesKeepTheirGuarantee(t *testing.T) {
	const messages, seeds = 5, 40_000
	by := nemesis.Priorities{Depth: 2, Messages: messages}
	var seen [12][messages + 1]int
	for seed := range uint64(seeds) {
		all, p := prioritized(by, seed)
		for i, l := range all {
			if p.shares[l.stream] != 0 {
				continue
			}
			for m := range messages {
				if p.share(l, 1+m) == math.MaxUint64 {
					seen[i][1+m]++
					break
				}
			}
		}
	}
	want := by.Guarantee(12) * seeds
	for i := range seen {
		for m, times := range seen[i][1:] {
			if float64(times) < want*0.8 || float64(times) > want*1.2 {
				t.Errorf("direction %d slow from message %d on: %d times, want about %.0f", i, 1+m, times, want)
			}
		}
	}
}

// Messages over a direction take the same time in a run, and other times in another.
func TestLatenciesFollowPriorities(t *testing.T) {
	took := map[int64]bool{}
	for seed := range uint64(20) {
		s := setting(1, 1)
		s.Latency = nemesis.Distribution{Range: nemesis.Range{Max: time.Second}}
		s.GuardLatency = &nemesis.Distribution{}
		s.Priorities = &nemesis.Priorities{Depth: 2, Messages: 2}
		w, err := Open(t.Context(), s, seed, &history.Log{})
		if err != nil {
			t.Fatal(err)
		}
		l := &w.network.links[0].requests
		took[w.takes(l)] = true
		if directions, messages := w.Varying(); directions != 2 || messages != 1 {
			t.Errorf("%d messages over %d directions: want 1 over 2", messages, directions)
		}
	}
	// The first in the order, the second, or one that has become the slowest.
	if len(took) != 3 || !took[0] || !took[int64(time.Second)] {
		t.Errorf("first messages took %v: want 0, 0.5 s and 1 s", took)
	}
}
