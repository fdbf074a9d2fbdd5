package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A request in a node's socket is not executed after its connection was reset.
func TestResetReachesTheSocket(t *testing.T) {
	s := over(pipelined, fault(&nemesis.NodePause{Node: 1}, 0, 20*ms), fault(&nemesis.Reset{Way: nemesis.Requests}, 5*ms, 0))
	sendAll(t, s, 1, request{}, request{after: 9 * ms / 2}).expect(t, "stopped", "lost@6ms lost@6ms", "")
}

// Nor is it answered: the reply takes no room on a narrow link. It would have
// kept it for 50 ms.
func TestNoReplyAfterAReset(t *testing.T) {
	s := over(pipelined, fault(&nemesis.Reset{Way: nemesis.Requests}, 5*ms, 0),
		fault(&nemesis.Bandwidth{Way: nemesis.Replies, BytesPerSecond: 100}, 0, time.Second))
	s.Persistence = nemesis.Always
	s.Sync = &nemesis.Distribution{Range: nemesis.Range{Min: 20 * ms, Max: 20 * ms}}
	sendAll(t, s, 1, request{}, request{after: 9 * ms / 2}, request{after: 6 * ms}).
		expect(t, "syncing", "lost@6ms lost@6ms yes@92ms", "a@1ms c@21ms")
}

// News of an old connection leaves the new one alone. The first two requests are
// on one, the others on the next, of which each is lost when the first is.
func TestOldNewsLeavesTheNewConnection(t *testing.T) {
	const gone = 15*time.Minute + 24*time.Second + 600*ms
	s := over(pipelined, nemesis.Fault{Action: &nemesis.Loss{Percent: 100, Way: nemesis.Requests}})
	sendAll(t, s, 1, request{}, request{after: 10 * ms}, request{after: gone - 5*ms}, request{after: 10 * ms}).
		expect(t, "lost", "lost@15m24.6s lost@15m24.6s lost@30m49.205s lost@30m49.205s", "")
}

// Two places that become free at once are both taken.
func TestPoolFillsEveryPlace(t *testing.T) {
	s := over(nemesis.Connections{Limit: 2}, fault(&nemesis.Pause{Client: 1}, ms/2, 20*ms))
	sendAll(t, s, 1, make([]request, 4)...).
		expect(t, "two", "yes@20.5ms yes@20.5ms yes@22.5ms yes@22.5ms", "a@1ms b@1ms c@21.5ms d@21.5ms")
}

// A request frees its place at its deadline, even if nobody has looked at it.
func TestPoolKeepsTheDeadline(t *testing.T) {
	s := over(nemesis.Connections{Limit: 1}, fault(&nemesis.Partition{Way: nemesis.Replies}, 0, time.Second))
	log := play(t, s, func(w *World) {
		w.Nodes(1).Send(1, named(0), env.Instant(5*ms))
		w.Nodes(1).Send(1, named(1), env.Never)
		sleep(w, 1, 100*ms)
	})
	expect(t, "keys", kinds(log, history.KeySet), "key-set@1ms key-set@6ms")
}

// A link is up again when what a fault has held up is through, where others wait
// for it: here a request that takes until 57 ms, of a fault that ends at 10 ms.
func TestAftermathHoldsTheLink(t *testing.T) {
	slow := fault(&nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Min: 50 * ms, Max: 50 * ms}}}, 0, 10*ms)
	for _, c := range []struct {
		what   string
		over   nemesis.Connections
		giveUp env.Instant
		want   string
	}{
		{"a connection each", nemesis.Connections{}, env.Never, "link-down@0s link-up@10ms"},
		{"pipelined", pipelined, env.Never, "link-down@0s link-up@57ms"},
		{"pipelined, given up", pipelined, env.Instant(20 * ms), "link-down@0s link-up@57ms"},
		{"limited", nemesis.Connections{Limit: 1}, env.Never, "link-down@0s link-up@57ms"},
		{"limited, given up", nemesis.Connections{Limit: 1}, env.Instant(20 * ms), "link-down@0s link-up@20ms"},
	} {
		log := play(t, over(c.over, slow), func(w *World) {
			sleep(w, 1, 5*ms)
			w.Nodes(1).Send(1, named(0), c.giveUp)
			sleep(w, 1, 20*ms)
			w.Nodes(1).Send(1, named(1), env.Never) // does not prolong it
			sleep(w, 1, 200*ms)
		})
		expect(t, c.what, kinds(log, history.LinkDown, history.LinkUp), c.want)
	}
}

// A fault that begins while a link drains finds the link down. When it ends, the
// link drains again.
func TestFaultInAnAftermath(t *testing.T) {
	stop := &nemesis.NodePause{Node: 1}
	log := play(t, over(pipelined, fault(stop, 0, 10*ms), fault(stop, 21*ms/2, 20*ms)), func(w *World) {
		sleep(w, 1, 5*ms)
		w.Nodes(1).Send(1, named(0), env.Never) // answered at 11 ms
		sleep(w, 1, 6*ms)
		w.Nodes(1).Send(1, named(1), env.Never)
		sleep(w, 1, 200*ms)
	})
	expect(t, "links", kinds(log, history.LinkDown, history.LinkUp), "link-down@0s link-up@31.5ms")
}
