package checker_test

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/model"
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

// BenchmarkPorcupine judges lease exclusion in a history by the checker and, in the same run, by porcupine with a hash of
// states. It reports the ratio of the shortest times, and how many steps of the model porcupine tries for an operation,
// which no load of the machine changes. Porcupine gets the windows as operations, for which no time counts. In turns the
// clients call acquire at once again and again, and each is granted the lock in turn. In refuted there is an overlap at
// the end, before which as many grants return with nothing left of them.
func BenchmarkPorcupine(b *testing.B) {
	for _, c := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("turns/operations=4096/clients=%d", c), func(b *testing.B) { benchmarkPorcupine(b, contended(4096, c), true) })
	}
	for _, n := range []int{1024, 2048, 8192} {
		b.Run(fmt.Sprintf("turns/operations=%d/clients=4", n), func(b *testing.B) { benchmarkPorcupine(b, contended(n, 4), true) })
	}
	for _, c := range []int{4, 8, 12} {
		b.Run(fmt.Sprintf("refuted/clients=%d", c), func(b *testing.B) { benchmarkPorcupine(b, refuted(c), false) })
	}
}

func benchmarkPorcupine(b *testing.B, events []history.Event, legal bool) {
	header := history.Header{Nodes: 5, UntilClock: history.ClientClock}
	events = append(events, history.Event{Time: events[len(events)-1].Time, Kind: history.End})
	line := timeline.New(header)
	var windows []timeline.Window
	line.Windows(timeline.LeaseWindow, func(w timeline.Window) { windows = append(windows, w) })
	for i := range events {
		line.Record(&events[i])
	}
	line.Close()
	ops, hashed, seed := told(windows), model.LeaseLock, maphash.MakeSeed()
	hashed.Hash = func(state any) uint64 { return maphash.Comparable(seed, state.(model.LeaseState)) }
	counted, steps := hashed, 0
	counted.Step = func(state, input, output any) (bool, any) { steps++; return hashed.Step(state, input, output) }
	if porcupine.CheckOperations(counted, ops) != legal {
		b.Fatalf("porcupine: legal %v; want %v", !legal, legal)
	}
	ours, theirs := time.Hour, time.Hour
	fastest := func(of *time.Duration, do func() bool) {
		for range 5 {
			began := time.Now()
			is := do()
			if *of = min(*of, time.Since(began)); is != legal {
				b.Fatalf("legal %v; want %v", is, legal)
			}
		}
	}
	for b.Loop() {
		fastest(&ours, func() bool {
			panel := checker.New(header, checker.Lease)
			for i := range events {
				panel.Record(&events[i])
			}
			return panel.Finish().Finding(checker.Lease).Verdict == checker.Holds
		})
		fastest(&theirs, func() bool { return porcupine.CheckOperations(hashed, ops) })
	}
	b.ReportMetric(float64(theirs)/float64(ours), "porcupine/checker")
	b.ReportMetric(float64(steps)/float64(len(ops)), "steps/operation")
}

// contended is a history of so many operations, begins and ends of windows, of clients that all call acquire at once. They
// are granted the lock in turn, in any order.
func contended(operations, clients int) (events []history.Event) {
	r := rand.New(rand.NewPCG(1, 1))
	e := history.Event{Resource: "resource", Outcome: history.OK}
	add := func(k history.Kind, client, round int) {
		e.Time++
		e.Kind, e.Client, e.Token, e.Until = k, client+1, fmt.Sprintf("%d %d", round, client), 1<<40
		events = append(events, e)
	}
	for round := range operations / (2 * clients) {
		for c := range clients {
			add(history.Acquire, c, round)
		}
		for _, c := range r.Perm(clients) {
			add(history.Granted, c, round)
			add(history.Release, c, round)
			add(history.Released, c, round)
		}
	}
	return events
}

// refuted is a history with an overlap, before which so many clients are granted the lock when their validity is over.
func refuted(clients int) []history.Event {
	events := contended(2, 1)
	at := events[len(events)-1].Time
	for c := range clients {
		e := history.Event{Client: c + 1, Resource: "resource", Token: fmt.Sprint("empty ", c), Until: 1}
		for i, k := range []history.Kind{history.Acquire, history.Lapse, history.Granted} {
			e.Kind, e.Time = k, at+history.Time(i+1)
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return int(a.Time - b.Time) })
	for c := range 2 {
		e := history.Event{Client: c + 1, Resource: "resource", Token: fmt.Sprint("overlap ", c), Until: 1 << 40}
		for _, e.Kind = range []history.Kind{history.Acquire, history.Granted} {
			e.Time = at + 4 + history.Time(c)
			events = append(events, e)
		}
	}
	return events
}
