package world

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// True clocks come to an instant at that time.
func trueClock(_ int, _ env.Clock, until env.Instant) history.Time { return history.Time(until) }

func TestLapseAskedForLateIsWrittenAtOnce(t *testing.T) {
	var log history.Log
	l := NewLeaseExpiries(trueClock, log.Record)
	l.Watch(50, 1, env.Monotonic, "r", "a", 10)
	want := history.Log{{Time: 50, Since: 10, Kind: history.Lapse, Client: 1, Resource: "r", Token: "a", Until: 10}}
	if !slices.Equal(log, want) {
		t.Errorf("got %+v\nwant %+v", log, want)
	}
}

// Law: whenever it is looked at, the history holds just those lapses that have
// come due without having been replaced or withdrawn before.
func TestLapsesAgreeWithThoseThatLookAllTheTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log, want history.Log
		l := NewLeaseExpiries(trueClock, log.Record)
		watched := map[holder]env.Instant{}
		now := history.Time(0)
		for range rapid.IntRange(0, 60).Draw(t, "operations") {
			for range rapid.IntRange(0, 5).Draw(t, "passes") {
				now++
				want = append(want, takeDue(watched, now)...)
			}
			n := holder{rapid.IntRange(1, 2).Draw(t, "client"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "token")}
			switch rapid.IntRange(0, 2).Draw(t, "operation") {
			case 0:
				watched[n] = env.Instant(now) + env.Instant(rapid.IntRange(1, 20).Draw(t, "ahead"))
				l.Watch(now, n.client, env.Monotonic, "r", n.token, watched[n])
			case 1:
				delete(watched, n)
				l.Unwatch(now, n.client, n.token)
			case 2:
				l.Flush(now)
			}
		}
		l.Flush(now)
		if !inOrder(log) || !inOrder(want) || !slices.Equal(log, want) {
			t.Fatalf("got  %+v\nwant %+v", log, want)
		}
	})
}

type holder struct {
	client int
	token  string
}

// takeDue takes out of watched what is due at this very instant.
func takeDue(watched map[holder]env.Instant, now history.Time) (due history.Log) {
	for h, until := range watched {
		if history.Time(until) == now {
			delete(watched, h)
			due = append(due, history.Event{
				Time: now, Kind: history.Lapse, Client: h.client, Resource: "r", Token: h.token, Until: int64(until),
			})
		}
	}
	return due
}

// inOrder reports whether the times never go back, and puts lapses of one
// instant, whose order means nothing, into one that can be compared.
func inOrder(log history.Log) bool {
	byTime := func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) }
	sorted := slices.IsSortedFunc(log, byTime)
	slices.SortFunc(log, func(a, b history.Event) int {
		return cmp.Or(byTime(a, b), cmp.Compare(a.Client, b.Client), cmp.Compare(a.Token, b.Token))
	})
	return sorted
}
