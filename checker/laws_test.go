package checker_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// TestOrderOfTiesDoesNotMatter: events of one instant may come in any order, whatever the
// property and whatever is found.
func TestOrderOfTiesDoesNotMatter(t *testing.T) {
	repeat(t, 10_000, func(t *rapid.T) {
		header, events := drawTurmoil(t)
		again := shuffleTies(events, rapid.Uint64().Draw(t, "another order"))
		a, b := judge(header, events), judge(header, again)
		for _, p := range checker.Properties() {
			f, g := a.Finding(p), b.Finding(p)
			if f.Verdict != g.Verdict || f.Count != g.Count {
				t.Fatalf("%v: %v, %d violations (%s), in another order %v, %d (%s)", p, f.Verdict, f.Count, f.Story(), g.Verdict, g.Count, g.Story())
			}
		}
	})
}

// everyBound sets all bounds, those to come too, so that every judge has something to ask.
func everyBound(to int64) history.Bounds {
	var b history.Bounds
	for v, i := reflect.ValueOf(&b).Elem(), 0; i < v.NumField(); i++ {
		v.Field(i).SetInt(to)
	}
	return b
}

// TestAnyHistoryIsJudged: nonsense makes the panel neither panic nor hang.
func TestAnyHistoryIsJudged(t *testing.T) {
	repeat(t, 5_000, func(t *rapid.T) {
		var events []history.Event
		now := 0
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			now += rapid.IntRange(0, 2).Draw(t, "later")
			events = append(events, history.Event{
				Time:     history.Time(now),
				Kind:     history.Kind(rapid.IntRange(1, int(history.End)-1).Draw(t, "kind")),
				Client:   rapid.IntRange(0, 2).Draw(t, "client"),
				Node:     rapid.IntRange(0, 3).Draw(t, "node"),
				Resource: "r",
				Token:    rapid.SampledFrom([]string{"a", "b"}).Draw(t, "token"),
				Until:    int64(rapid.IntRange(0, 40).Draw(t, "until")),
				Outcome:  history.Outcome(rapid.IntRange(0, 3).Draw(t, "outcome")),
				Value:    int64(rapid.IntRange(0, 2).Draw(t, "value")),
				Reason:   "deleted",
			})
		}
		header := history.Header{Nodes: 3, Clients: 2, LongestTTL: 3, Keys: true, Bounds: everyBound(2)}
		report := judge(header, events)
		for i, f := range report.Findings {
			if f.Property != checker.Properties()[i] || f.Story() == "" || f.Verdict == checker.Holds {
				t.Fatalf("finding %d: %+v", i, f)
			}
		}
	})
}
