package sim

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
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

func later(d time.Duration) nemesis.Distribution {
	return nemesis.Distribution{Range: nemesis.Range{Min: d, Max: d}}
}

// The copy of a request takes effect, and its reply is dropped: a SET whose copy arrives after the
// DEL leaves a key behind, unknown to its client.
func TestCopyOfASetLeavesAnOrphan(t *testing.T) {
	for name, connections := range map[string]nemesis.Connections{"alone": {}, "pipelined": pipelined, "pooled": {Limit: 1}} {
		s := setting(1, 1, nemesis.Fault{Action: &nemesis.Duplicate{After: later(20 * ms)}, Start: nemesis.At(0), End: nemesis.After(2 * ms)})
		s.Connections = connections
		log := play(t, s, func(w *World) {
			expect(t, name+", set", ask(w, 1, 1, set, time.Second), "yes")
			expect(t, name+", delete", ask(w, 1, 1, command(env.OpDelete, "a"), time.Second), "yes")
			sleep(w, 1, 30*ms)
			expect(t, name+", set by another token", ask(w, 1, 1, command(env.OpSet, "b"), time.Second), "no")
		})
		expect(t, name+", keys", kinds(log, history.KeySet, history.KeyGone), "key-set@1ms key-gone@3ms key-set@21ms")
		if again := log[4]; again.Kind != history.KeySet || again.Token != "a" || again.Client != 1 || again.Sent != 0 {
			t.Errorf("%s: %+v", name, log)
		}
		expect(t, name+", links", kinds(log, history.LinkDown), "")
	}
}

// The reply to a copy of a request is not the reply to the request: a counter that is incremented
// twice returns its first value.
func TestAnswerToACopyIsNotHeard(t *testing.T) {
	s := setting(1, 1, nemesis.Fault{Action: &nemesis.Duplicate{}, Start: nemesis.At(0), End: nemesis.After(6 * ms)})
	play(t, s, func(w *World) {
		numbers := func() uint64 {
			r, _ := w.Nodes(1).Send(1, env.Command{Op: env.OpIncrement, Key: "n"}, env.Never).Next(t.Context(), env.Never)
			return r.Count
		}
		for _, want := range []uint64{1, 3, 5, 7} {
			if got := numbers(); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		}
	})
}

// A copy that arrives at a server that stands still waits for it. One that arrives at a server that
// is down is lost without notice.
func TestCopyComesToANodeThatIsNotWell(t *testing.T) {
	for name, c := range map[string]struct {
		action nemesis.Action
		keys   string
	}{
		"stands still": {&nemesis.NodePause{Node: 1}, "key-set@1ms key-gone@3ms key-set@50ms"},
		"is down":      {&nemesis.Crash{Node: 1}, "key-set@1ms key-gone@3ms"},
		"has no power": {&nemesis.PowerLoss{Node: 1}, "key-set@1ms key-gone@3ms"},
	} {
		s := setting(1, 1,
			nemesis.Fault{Action: &nemesis.Duplicate{After: later(20 * ms)}, Start: nemesis.At(0), End: nemesis.After(2 * ms)},
			nemesis.Fault{Action: c.action, Start: nemesis.At(10 * ms), End: nemesis.After(40 * ms)},
		)
		log := play(t, s, func(w *World) {
			ask(w, 1, 1, set, time.Second)
			ask(w, 1, 1, command(env.OpDelete, "a"), time.Second)
			sleep(w, 1, 80*ms)
		})
		expect(t, name, kinds(log, history.KeySet, history.KeyGone), c.keys)
	}
}

// Clones draw the same from the instant on in which they became that.
func TestClonesDrawTheSame(t *testing.T) {
	s := setting(3, 1, nemesis.Fault{Action: &nemesis.Clone{Clients: []int{1, 3}}, Start: nemesis.At(10 * ms)})
	var before, after [3][8]byte
	main := func(client int) func(*World) {
		return func(w *World) {
			w.Runtime(client).Random(before[client-1][:])
			sleep(w, client, 20*ms)
			w.Runtime(client).Random(after[client-1][:])
		}
	}
	play(t, s, main(1), main(2), main(3))
	if before[0] == before[2] || after[0] != after[2] || after[0] == after[1] {
		t.Errorf("before %v, after %v", before, after)
	}
}

// Which keys are evicted depends on the policy of the server and on the named key.
func TestEvictionGoesByItsPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		evict nemesis.Evict
		want  string // what is there afterwards: a lock, another, a key without an end, a counter
	}{
		"volatile":                      {nemesis.Evict{Node: 1}, "no no yes 1"},
		"allkeys":                       {nemesis.Evict{Node: 1, Policy: nemesis.AllKeys}, "no no no 0"},
		"one":                           {nemesis.Evict{Node: 1, Resource: "r"}, "no yes yes 1"},
		"one without an end":            {nemesis.Evict{Node: 1, Resource: "plain"}, "yes yes yes 1"},
		"one without an end of allkeys": {nemesis.Evict{Node: 1, Resource: "plain", Policy: nemesis.AllKeys}, "yes yes no 1"},
	} {
		play(t, setting(1, 1, nemesis.Fault{Action: &c.evict, Start: nemesis.At(20 * ms)}), func(w *World) {
			one := func(c env.Command) env.Reply {
				r, _ := w.Nodes(1).Send(1, c, env.Never).Next(t.Context(), env.Never)
				return r
			}
			other := set
			other.Key = "other"
			for _, c := range []env.Command{set, other, {Op: env.OpAdd, Key: "plain", Token: "a"}, {Op: env.OpRaise, Key: "n", Count: 1}} {
				one(c)
			}
			sleep(w, 1, 30*ms)
			got := ""
			for _, key := range []string{"r", "other", "plain"} {
				got += one(env.Command{Op: env.OpGet, Key: key}).Answer.String() + " "
			}
			got += string('0' + byte(one(env.Command{Op: env.OpCount, Key: "n"}).Count))
			expect(t, name, got, c.want)
		})
	}
}

// The note of a quarantine has no time to live: it goes with allkeys, and not otherwise.
func TestEvictionOfNotes(t *testing.T) {
	for policy, want := range map[nemesis.EvictionPolicy]bool{nemesis.Volatile: true, nemesis.AllKeys: false} {
		play(t, setting(1, 1, nemesis.Fault{Action: &nemesis.Evict{Node: 1, Policy: policy}, Start: nemesis.At(20 * ms)}), func(w *World) {
			watching := set
			watching.Vouched = time.Second
			one := func(c env.Command) env.Reply {
				r, _ := w.Nodes(1).Send(1, c, env.Never).Next(t.Context(), env.Never)
				return r
			}
			one(env.Command{Op: env.OpVouch, Token: one(watching).Run, TTL: time.Second})
			sleep(w, 1, 30*ms)
			if got := one(watching).Vouched; got != want {
				t.Errorf("%s: the note is there: %t", policy, got)
			}
		})
	}
}
