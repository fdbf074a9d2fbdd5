package checker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// BenchmarkChecker is the time of an operation, a call with its return, in memory, with the judge of lease exclusion
// and with all judges.
func BenchmarkChecker(b *testing.B) {
	for name, only := range map[string][]checker.Property{"lease": {checker.Lease}, "all": nil} {
		for _, n := range []int{10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/operations=%d", name, n), func(b *testing.B) {
				header, events := turnsOf(n)
				benchmarkEvents(b, n, header, events, only...)
			})
		}
	}
}

// turnsOf is a history of about so many operations of clients that hold one resource in turn. Some extend, and
// now and then one more client comes, and dies.
func turnsOf(operations int) (history.Header, []history.Event) {
	const clients = 10
	events := make([]history.Event, 0, 3*operations)
	e := history.Event{Resource: "resource", TTL: time.Second, Validity: time.Second, Outcome: history.OK}
	for i := range operations / 2 {
		e.Client, e.Token = i%clients+1, fmt.Sprintf("%040x", i)
		e.Until = int64(e.Time) + int64(time.Second)
		turn := []history.Kind{history.Acquire, history.Granted, history.Release, history.Released}
		switch {
		case i%clients == 3:
			turn = []history.Kind{history.Acquire, history.Granted, history.Extend, history.Extended, history.Release, history.Released}
		case i%10_000 == 6:
			e.Client += clients * (1 + i/10_000)
			turn = []history.Kind{history.Acquire, history.Granted, history.Kill, history.Lapse}
		}
		for _, e.Kind = range turn {
			e.Time += 1000
			events = append(events, e)
		}
	}
	return history.Header{Nodes: 5, Clients: clients, LongestTTL: time.Second, UntilClock: history.ClientClock}, append(events, history.Event{Time: e.Time, Kind: history.End})
}

func benchmarkEvents(b *testing.B, operations int, header history.Header, events []history.Event, only ...checker.Property) {
	b.ReportAllocs()
	for b.Loop() {
		panel := checker.New(header, only...)
		for i := range events {
			panel.Record(&events[i])
		}
		if f := panel.Finish().Finding(checker.Lease); f.Verdict != checker.Holds {
			b.Fatal(f.Story())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*operations), "ns/operation")
}
