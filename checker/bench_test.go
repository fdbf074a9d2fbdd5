//go:build unix

package checker_test

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

var big = flag.Bool("big", false, "BenchmarkLease also judges 10,000,000 operations, for which it needs 5 GB")

// BenchmarkLease is the time that the judge of lease exclusion takes for an operation, a
// call with its return, in memory: of clients that do nothing but acquire and release in
// turn, and of the traffic, in which there is all that there can be.
func BenchmarkLease(b *testing.B) {
	sizes := []int{10_000, 1_000_000}
	if *big {
		sizes = append(sizes, 10_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("turns/operations=%d", n), func(b *testing.B) {
			header, events := turnsOf(n)
			benchmarkEvents(b, n, header, events, checker.Lease)
		})
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("traffic/operations=%d", n), func(b *testing.B) { benchmarkJudges(b, n, 0, checker.Lease) })
	}
}

// turnsOf is a history of so many operations of ten clients that acquire and release one
// resource in turn.
func turnsOf(operations int) (history.Header, []history.Event) {
	const clients = 10
	events := make([]history.Event, 0, 2*operations+1)
	e := history.Event{Resource: "resource", TTL: time.Second, Validity: time.Second, Outcome: history.OK}
	for i := range operations / 2 {
		e.Client, e.Token = i%clients+1, fmt.Sprintf("%040x", i)
		e.Until = int64(e.Time) + int64(time.Second)
		for _, e.Kind = range []history.Kind{history.Acquire, history.Granted, history.Release, history.Released} {
			e.Time += 1000
			events = append(events, e)
		}
	}
	return history.Header{Nodes: 5, Clients: clients, LongestTTL: time.Second, UntilClock: history.ClientClock}, append(events, history.Event{Time: e.Time, Kind: history.End})
}

// BenchmarkAll is the time of an operation with all judges and all measurements.
func BenchmarkAll(b *testing.B) { benchmarkJudges(b, 100_000, 0) }

func benchmarkJudges(b *testing.B, operations, unknown int, only ...checker.Property) {
	header, events := trafficOf(operations, unknown)
	benchmarkEvents(b, operations, header, events, only...)
}

func benchmarkEvents(b *testing.B, operations int, header history.Header, events []history.Event, only ...checker.Property) {
	b.ReportAllocs()
	began := processorTime(b)
	for b.Loop() {
		panel := checker.New(header, only...)
		for i := range events {
			panel.Record(&events[i])
		}
		if f := panel.Finish().Finding(checker.Lease); f.Verdict != checker.Holds {
			b.Fatal(f.Story())
		}
	}
	reportOperations(b, operations, processorTime(b)-began)
}

// reportOperations reports what took so much of the processor: it is what can be compared
// on a machine that is shared, where a round may wait for longer than it runs.
func reportOperations(b *testing.B, operations int, took time.Duration) {
	rounds := took.Seconds() / float64(b.N)
	b.ReportMetric(rounds*1e3, "cpu-ms/op")
	b.ReportMetric(rounds*1e9/float64(operations), "cpu-ns/operation")
	b.ReportMetric(float64(operations)/rounds, "operations/cpu-s")
}

// processorTime is how long the process has run by now, on all cores together.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
