package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// ruled is a kind of fault that is not in the table: it has the links and the
// times of a latency, and a rule of its own.
type ruled struct {
	*nemesis.Latency
	rule nemesis.Rule
}

func (ruled) Kind() nemesis.Kind { return "ruled" }

func (r ruled) Rule(func() uint64) nemesis.Rule { return r.rule }

// A fault that says what it does to messages needs nothing more to be carried
// out: here one that makes the node slow on one key.
func TestTrafficOfOneKey(t *testing.T) {
	slow := nemesis.Rule{Delay: func(m nemesis.Message) time.Duration {
		if m.Key == "a" && m.Client == 1 && m.Node == 1 {
			return map[nemesis.Direction]time.Duration{nemesis.Requests: 3 * ms, nemesis.Replies: 5 * ms}[m.Way]
		}
		return 0
	}}
	s := over(nemesis.Connections{}, fault(ruled{&nemesis.Latency{}, slow}, 0, time.Hour))
	sendAll(t, s, 1, request{}, request{}).expect(t, "one key", "yes@10ms yes@2ms", "b@1ms a@4ms")
	s = over(pipelined, fault(ruled{&nemesis.Latency{Way: nemesis.Replies}, slow}, 0, time.Hour))
	sendAll(t, s, 1, request{}, request{}).expect(t, "its replies, in line", "yes@7ms yes@7ms", "a@1ms b@1ms")
}

// What two faults hold back goes on when both have ended; what only one holds,
// when that has.
func TestTrafficHeldTwice(t *testing.T) {
	holds := nemesis.Rule{Holds: func(m nemesis.Message) bool { return m.Key == "a" }}
	one := fault(ruled{&nemesis.Latency{Way: nemesis.Requests}, holds}, 0, 30*ms)
	for what, c := range map[string]struct {
		plan             nemesis.Plan
		answers, applied string
	}{
		"the other ends first": {nemesis.Plan{one, fault(&nemesis.Partition{}, 0, 10*ms)}, "yes@32ms yes@12ms", "b@11ms a@31ms"},
		"the other ends last":  {nemesis.Plan{one, fault(&nemesis.Partition{}, 0, 50*ms)}, "yes@52ms yes@52ms", "a@51ms b@51ms"},
	} {
		sendAll(t, over(nemesis.Connections{}, c.plan...), 1, request{}, request{}).expect(t, what, c.answers, c.applied)
	}
}
