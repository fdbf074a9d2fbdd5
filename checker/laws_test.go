package checker_test

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// TestOrderOfTiesDoesNotMatter: events of one instant may come in any order. The judge of
// deadlock freedom is let off: it judges each event as it comes, so that it may count one
// wait more or less where a try returns in the very instant in which its client dies, or
// another try returns.
func TestOrderOfTiesDoesNotMatter(t *testing.T) {
	repeat(t, 10_000, func(t *rapid.T) {
		scripts := drawScripts(t)
		header, events := write(scripts, rapid.Uint64().Draw(t, "one order"))
		header.Bounds = everyBound(2)
		again := shuffleTies(events, rapid.Uint64().Draw(t, "another order"))
		a, b := judge(header, events), judge(header, again)
		for _, p := range checker.Properties() {
			if p == checker.DeadlockFreedom {
				continue
			}
			f, g := a.Finding(p), b.Finding(p)
			if f.Verdict != g.Verdict || f.Count != g.Count {
				t.Fatalf("%v: %v, %d violations (%s), in another order %v, %d (%s)", p, f.Verdict, f.Count, f.Story, g.Verdict, g.Count, g.Story)
			}
		}
	})
}

// turns draws a history that is legal by construction: clients hold in turn,
// and hand over at once or after a while.
func turns(t *rapid.T) []history.Event {
	var events []history.Event
	now := history.Time(0)
	wait := func(label string) { now += history.Time(rapid.IntRange(0, 3).Draw(t, label)) }
	for i := range rapid.IntRange(1, 10).Draw(t, "holds") {
		e := history.Event{Client: i%3 + 1, Resource: "r", Token: fmt.Sprint("token", i), Validity: 1, TTL: 1e9}
		add := func(k history.Kind) {
			e.Time, e.Kind = now, k
			events = append(events, e)
		}
		add(history.Acquire)
		wait("acquire")
		e.Until = reading(int(now) + 100)
		add(history.Granted)
		wait("hold")
		if rapid.Bool().Draw(t, "lapses") {
			e.Until = reading(int(now))
			events[len(events)-1].Until = e.Until
			add(history.Lapse)
			continue
		}
		add(history.Release)
		add(history.Released)
		events[len(events)-1].Outcome = history.OK
	}
	return append(events, history.Event{Time: now + 10, Kind: history.End})
}

func exclusionHeader() history.Header {
	return history.Header{Nodes: 5, Clients: 4, LongestTTL: 2e9}
}

// TestTurnsAreLegal: who takes turns breaks nothing.
func TestTurnsAreLegal(t *testing.T) {
	repeat(t, 2_000, func(t *rapid.T) {
		f := judge(exclusionHeader(), turns(t)).Finding(checker.Lease)
		if f.Verdict != checker.Holds {
			t.Fatal(f.Story)
		}
	})
}

// TestPlantedOverlapIsNamed: one grant too many is found, and it is named
// together with the hold that it overlaps.
func TestPlantedOverlapIsNamed(t *testing.T) {
	repeat(t, 2_000, func(t *rapid.T) {
		events := turns(t)
		last := events[len(events)-1].Time
		plant := func(at history.Time, k history.Kind, client int, token string) {
			events = append(events, history.Event{Time: at, Kind: k, Client: client, Resource: "r", Token: token, Until: 1 << 40, Validity: 1})
		}
		events = events[:len(events)-1]
		plant(last, history.Acquire, 1, "victim")
		plant(last+1, history.Granted, 1, "victim")
		plant(last+2, history.Acquire, 4, "intruder")
		plant(last+3, history.Granted, 4, "intruder")
		plant(last+5, history.Release, 4, "intruder")
		plant(last+9, history.Release, 1, "victim")
		events = append(events, history.Event{Time: last + 10, Kind: history.End})
		f := judge(exclusionHeader(), events).Finding(checker.Lease)
		if f.Count != 1 || f.First.First.Token != "victim" || f.First.Second.Token != "intruder" || f.First.Overlap() != 2 {
			t.Fatalf("a hold of the intruder was put into one of the victim, and the judge of lease exclusion finds %d violations, want 1, the first %+v: %s", f.Count, f.First, f.Story)
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
			if f.Property != checker.Properties()[i] || f.Story == "" || f.Verdict == checker.Holds {
				t.Fatalf("finding %d: %+v", i, f)
			}
		}
	})
}
