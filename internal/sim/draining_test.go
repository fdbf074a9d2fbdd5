package sim

import (
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

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

// A connection that breaks makes an end of what was on it.
func TestResetEndsAnAftermath(t *testing.T) {
	slow := &nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Min: 50 * ms, Max: 50 * ms}}}
	log := play(t, over(pipelined, fault(slow, 0, 5*ms), fault(&nemesis.Crash{Node: 1}, 20*ms, ms)), func(w *World) {
		w.Nodes(1).Send(1, named(0), env.Never)
		sleep(w, 1, 200*ms)
	})
	expect(t, "links", kinds(log, history.LinkDown, history.LinkUp), "link-down@0s link-up@21ms")
}
