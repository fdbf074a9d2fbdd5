package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

var batched = nemesis.Connections{Batched: true}

// A request goes out alone while none is under way. Others wait for its answer or for the
// flush delay, whichever comes first, and go out together.
func TestBatches(t *testing.T) {
	sendAll(t, over(batched), 1, request{}).expect(t, "alone", "yes@2ms", "a@1ms")
	sendAll(t, over(batched), 1, request{}, request{}, request{}).
		expect(t, "flushed after a millisecond", "yes@2ms yes@3ms yes@3ms", "a@1ms b@2ms c@2ms")

	near := over(batched)
	near.Latency = nemesis.Distribution{Range: nemesis.Range{Min: ms / 4, Max: ms / 4}}
	sendAll(t, near, 1, request{}, request{}, request{}).
		expect(t, "after the answer", "yes@500µs yes@1ms yes@1ms", "a@250µs b@750µs c@750µs")

	// Two connections are in use when the third request comes, so it waits for two
	// milliseconds, or for the end of a batch.
	far := over(batched)
	far.Latency = nemesis.Distribution{Range: nemesis.Range{Min: 10 * ms, Max: 10 * ms}}
	sendAll(t, far, 1, request{}, request{}, request{after: 3 * ms / 2}).
		expect(t, "as many connections as it takes", "yes@20ms yes@21ms yes@23.5ms", "a@10ms b@11ms c@13.5ms")
}

// A reply does not wait for those to the requests behind it.
func TestRepliesOfABatchComeOneByOne(t *testing.T) {
	s := over(batched, fault(&nemesis.Bandwidth{BytesPerSecond: 5000, Way: nemesis.Replies}, 0, time.Second))
	sendAll(t, s, 1, request{}, request{}, request{}).
		expect(t, "replies", "yes@3ms yes@4ms yes@5ms", "a@1ms b@2ms c@2ms")
}

// A request that expires before it is sent is not sent, and its client is notified. One that
// expires on its way keeps its connection busy until the last of its batch ends.
func TestBatchGivenUp(t *testing.T) {
	cut := fault(&nemesis.Partition{Way: nemesis.Replies}, 0, time.Second)
	got := sendAll(t, over(batched, cut), 1, request{giveUp: 5 * ms}, request{giveUp: ms / 2})
	got.expect(t, "not sent", "lost@5ms failed@500µs", "a@1ms")
	if !errors.Is(got.errs[1], causes[notSent]) {
		t.Errorf("the client hears %v", got.errs[1])
	}
}

// A node that does not answer is sent one request at a time, and what would have to wait
// fails at once. An answer to one request makes all well.
func TestBreaker(t *testing.T) {
	cut := fault(&nemesis.Partition{}, 0, 200*ms)
	give := 10 * ms
	got := sendAll(t, over(batched, cut), 1,
		request{giveUp: give}, request{after: 20 * ms, giveUp: give}, // which open the breaker
		request{after: 20 * ms, giveUp: give}, request{giveUp: give}, request{giveUp: give}, // one goes out, one waits, one is refused
		request{after: 250 * ms}, request{}, request{})
	got.expect(t, "breaker",
		"lost@10ms lost@30ms lost@50ms failed@50ms failed@40ms yes@292ms yes@294ms failed@290ms", "a@201ms b@201ms c@201ms f@291ms g@293ms")
	if !errors.Is(got.errs[3], causes[notSent]) || !errors.Is(got.errs[4], causes[breakerOpen]) {
		t.Errorf("the client hears %v, %v", got.errs[3], got.errs[4])
	}
}

// A node that refuses connections answers, in its way: the breaker stays closed.
func TestRefusalLeavesTheBreaker(t *testing.T) {
	down := fault(&nemesis.Crash{Node: 1}, 0, 20*ms)
	sendAll(t, over(batched, down), 1, request{after: ms}, request{after: 5 * ms}, request{after: 20 * ms}, request{}, request{}).
		expect(t, "refused", "failed@3ms failed@8ms yes@28ms yes@29ms yes@29ms", "c@27ms d@28ms e@28ms")
}

// Requests that wait while the only connection is refused fail with it.
func TestRefusalFailsWhatWaits(t *testing.T) {
	s := over(batched, fault(&nemesis.Crash{Node: 1}, 0, 20*ms))
	s.Latency = nemesis.Distribution{Range: nemesis.Range{Min: ms / 4, Max: ms / 4}}
	sendAll(t, s, 1, request{after: ms}, request{}, request{}).
		expect(t, "refused", "failed@1.5ms failed@1.5ms failed@1.5ms", "")
}

// While replies come in, what waits does not go out over another connection.
func TestFlushWaitsForABatchThatIsAnswered(t *testing.T) {
	s := over(batched, fault(&nemesis.Bandwidth{BytesPerSecond: 10_000, Way: nemesis.Replies}, 0, time.Second))
	sendAll(t, s, 1, request{}, request{}, request{}, request{}, request{after: 5 * ms / 2}).
		expect(t, "replies", "yes@2.5ms yes@3.5ms yes@4ms yes@4.5ms yes@7ms", "a@1ms b@2ms c@2ms d@2ms e@5.5ms")
}

// A reset breaks the connection that a batch shares, and with it all of the batch.
func TestResetOfABatch(t *testing.T) {
	reset := fault(&nemesis.Reset{Way: nemesis.Replies}, 5*ms/2, 0)
	sendAll(t, over(batched, reset), 1, request{}, request{}, request{}, request{after: 10 * ms}).
		expect(t, "reset", "yes@2ms lost@3.5ms lost@3.5ms yes@12ms", "a@1ms b@2ms c@2ms d@11ms")
}

// A client that stands still sends nothing that waits.
func TestBatchesOfAPausedClientStandStill(t *testing.T) {
	pause := fault(&nemesis.Pause{Client: 1}, ms/2, 20*ms)
	sendAll(t, over(batched, pause), 1, request{}, request{}, request{giveUp: 5 * ms}).
		expect(t, "paused", "yes@20.5ms yes@22.5ms failed@20.5ms", "a@1ms b@21.5ms")
}
