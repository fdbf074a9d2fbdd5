package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Law: events leave the queue in the order (instant, class, sequence).
func TestEventsLeaveTheQueueInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var pushed []event
		for i := range rapid.IntRange(0, 200).Draw(t, "n") {
			at := rapid.Int64Range(0, 20).Draw(t, "at")
			c := class(rapid.IntRange(int(faultDue), int(deferredArrive)).Draw(t, "class"))
			q.push(at, c, int32(i))
			pushed = append(pushed, newEvent(at, c, q.seq, int32(i)))
		}
		slices.SortFunc(pushed, func(a, b event) int {
			if a.before(&b) {
				return -1
			}
			return 1
		})
		for _, want := range pushed {
			if got := q.pop(); got != want {
				t.Fatalf("got %+v, want %+v", got, want)
			}
		}
	})
}

func BenchmarkQueue(b *testing.B) {
	var q queue
	for i := range 64 {
		q.push(int64(i*7919%64), requestArrives, int32(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		e := q.pop()
		q.push(e.at+int64(e.index()%13)+1, requestArrives, e.index())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
