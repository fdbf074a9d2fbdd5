package checker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// cycles is a history of n grants that clients take in turn. With accesses,
// each reads and writes the guarded resource.
func cycles(n, clients int, accesses bool) []history.Event {
	events := make([]history.Event, 0, n*9)
	now := history.Time(0)
	for i := range n {
		e := history.Event{Client: i%clients + 1, Resource: "resource", Token: fmt.Sprintf("%040x", i), TTL: time.Second, Validity: time.Second}
		add := func(k history.Kind, value int64) {
			now += history.Time(time.Microsecond)
			e.Time, e.Kind, e.Value = now, k, value
			e.Outcome = history.OK
			events = append(events, e)
		}
		add(history.Acquire, 0)
		e.Until = int64(now) + int64(time.Second)
		add(history.Granted, 0)
		if accesses {
			add(history.Read, 0)
			add(history.ReadDone, int64(i))
			add(history.Write, int64(i)+1)
			add(history.Apply, int64(i)+1)
			add(history.WriteDone, int64(i)+1)
		}
		add(history.Release, 0)
		add(history.Released, 0)
	}
	return events
}

// BenchmarkPanel is the time of one event with all judges.
func BenchmarkPanel(b *testing.B) {
	for _, c := range []struct {
		name     string
		clients  int
		accesses bool
	}{{"locks", 1, false}, {"locks/clients=10", 10, false}, {"accesses", 10, true}} {
		b.Run(c.name, func(b *testing.B) { benchmarkPanel(b, cycles(20_000, c.clients, c.accesses)) })
	}
}

func benchmarkPanel(b *testing.B, events []history.Event) {
	header := history.Header{Nodes: 5, Clients: 10, LongestTTL: time.Second, Bounds: history.Bounds{Acquire: time.Second, Tries: 3}}
	b.ReportAllocs()
	done := 0
	for done < b.N {
		panel := checker.NewPanel(header)
		part := events[:min(len(events), b.N-done)]
		for i := range part {
			panel.Record(&part[i])
		}
		panel.Finish()
		done += len(part)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
