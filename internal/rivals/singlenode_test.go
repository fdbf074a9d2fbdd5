package rivals_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
)

// cutFor holds back what client 1 and the node say to each other.
func cutFor(way nemesis.Direction, from, length time.Duration) nemesis.Plan {
	return nemesis.Plan{{
		Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}, Way: way},
		Start:  nemesis.At(from), End: nemesis.After(length),
	}}
}

// try fails, and stays for what goes on in the background.
func try(want error) func(b *bench, m *rivals.Mutex) {
	return func(b *bench, m *rivals.Mutex) {
		_, err := m.Lock(background, "r")
		b.wantError("lock", err, want)
		b.sleep(1, 5*time.Second)
	}
}

// onceOf is the lock with one try.
func onceOf(makes maker) maker {
	return func(c rivals.Config, p rivals.Ports) (*rivals.Mutex, error) {
		c.Tries = 1
		return makes(c, p)
	}
}

// A key that was set, or may be, by a try that failed is deleted, also if the SET
// comes later than the first delete. The naive locks leave it.
func TestFailedTryIsGivenBack(t *testing.T) {
	lostAnswer := cutFor(nemesis.Replies, 0, 60*ms)
	lateSet := cutFor(nemesis.Requests, 0, 90*ms)
	reset := nemesis.Plan{{Action: &nemesis.Reset{Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Replies}, Start: nemesis.At(1500 * time.Microsecond)}}
	tooLate := nemesis.Plan{pause(nemesis.When(1, env.StepBeforeCheck, 0), 990*ms)}
	for _, c := range []struct {
		name string
		what string
		plan nemesis.Plan
		told error
		want string
	}{
		{"single-node", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms, deleted by 1@51ms"},
		{"single-node", "SET late", lateSet, rivals.ErrNoAnswer, "set by 1@91ms, deleted by 1@91ms"},
		{"single-node", "connection reset", reset, rivals.ErrNoAnswer, "set by 1@1ms, deleted by 1@3ms"},
		{"single-node", "validity over", tooLate, rivals.ErrValidity, "set by 1@1ms, deleted by 1@993ms"},
		{"get-then-del", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms, deleted by 1@62ms"},
		{"setnx-del", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms, expired by 0@1.002s"},
		{"setnx-then-expire", "answer lost", lostAnswer, rivals.ErrNoAnswer, "set by 1@1ms"},
		{"check-then-set", "answer lost", cutFor(nemesis.Replies, 3*ms, 60*ms), rivals.ErrNoAnswer, "set by 1@3ms"},
	} {
		t.Run(c.name+", "+c.what, func(t *testing.T) {
			b := play(t, onceOf(named(c.name)), c.plan, try(c.told))
			b.want("keys", b.keys(), c.want)
		})
	}
}

// A delete that overtakes the SET is sent again, until there is something to
// delete.
func TestDeleteThatOvertakesTheSet(t *testing.T) {
	slow := nemesis.Plan{{
		Action: &nemesis.Latency{
			Links: nemesis.Links{Clients: []int{1}}, Way: nemesis.Requests,
			Add: nemesis.Distribution{Range: nemesis.Range{Min: 200 * ms, Max: 200 * ms}},
		},
		Start: nemesis.At(0), End: nemesis.After(ms),
	}}
	b := play(t, onceOf(rivals.NewSingleNode), slow, try(rivals.ErrNoAnswer))
	b.want("keys", b.keys(), "set by 1@201ms, deleted by 1@205ms") // asked at 50, 102 and 204 ms
}

// A release without an answer is asked again.
func TestReleaseWithoutAnAnswer(t *testing.T) {
	b := play(t, rivals.NewSingleNode, cutFor(nemesis.Requests, 5*ms, 60*ms), func(b *bench, m *rivals.Mutex) {
		h := b.lock(m)
		b.sleep(1, 8*ms)
		b.wantError("release", h.Release(background), rivals.ErrNoAnswer)
		b.sleep(1, 3*time.Second)
	})
	b.want("keys", b.keys(), "set by 1@1ms, deleted by 1@66ms")
}

// Whose key is gone is told so by the extension.
func TestExtensionTellsTheLoss(t *testing.T) {
	evict := nemesis.Plan{{Action: &nemesis.Evict{Node: 1}, Start: nemesis.At(100 * ms)}}
	b := play(t, rivals.NewSingleNode, evict, func(b *bench, m *rivals.Mutex) {
		h := b.lock(m)
		b.sleep(1, 200*ms)
		b.wantError("extend", h.Extend(background, time.Second), rivals.ErrLost)
		b.wantError("check", h.Check(), rivals.ErrLost)
		b.wantError("release", h.Release(background), rivals.ErrLost)
	})
	b.want("steps", b.steps(1), "acquire before-send reply 1 (set) before-check after-check granted extend reply 2 (extend) lost extend-failed before-release reply 3 (delete) released")
}

// An extension without an answer leaves the end of validity as it is.
func TestExtensionWithoutAnAnswer(t *testing.T) {
	play(t, rivals.NewSingleNode, cutFor(nemesis.Replies, 50*ms, 100*ms), func(b *bench, m *rivals.Mutex) {
		h := b.lock(m)
		b.sleep(1, 50*ms)
		b.wantError("extend", h.Extend(background, time.Second), rivals.ErrNoAnswer)
		b.want("until", h.Until(), env.Instant(988*ms))
		b.wantError("check", h.Check(), nil)
	})
}
