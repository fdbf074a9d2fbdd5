package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// What waits in the socket of a node is not executed after its connection was
// reset.
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
