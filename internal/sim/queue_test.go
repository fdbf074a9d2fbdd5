package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Law: events leave the queue in the order (instant, class, sequence), whenever they came and
// however many wait.
func TestEventsLeaveTheQueueInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var waiting []event
		span := rapid.SampledFrom([]int64{5, 100, 10_000}).Draw(t, "span")
		for range rapid.IntRange(1, 12).Draw(t, "phases") {
			for i := range rapid.IntRange(0, 100).Draw(t, "pushed") {
				at := rapid.Int64Range(0, span).Draw(t, "at")
				c := class(rapid.IntRange(int(faultDue), int(deferredArrive)).Draw(t, "class"))
				q.push(at, c, int32(i))
				waiting = append(waiting, newEvent(at, c, q.seq, int32(i)))
			}
			slices.SortFunc(waiting, func(a, b event) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			popped := rapid.IntRange(0, len(waiting)).Draw(t, "popped")
			for _, want := range waiting[:popped] {
				if got := q.first().pop(); got != want {
					t.Fatalf("got %+v, want %+v", got, want)
				}
			}
			waiting = waiting[popped:]
			if q.len() != len(waiting) {
				t.Fatalf("%d events wait in the queue, want %d", q.len(), len(waiting))
			}
		}
	})
}
