package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// While a server pauses its clients nothing expires. What is due goes at the end, before the requests that waited.
func TestNothingExpiresWhileClientsArePaused(t *testing.T) {
	for paused, want := range map[bool]string{
		true:  "key-set@1ms key-gone@210ms key-set@210ms",
		false: "key-set@1ms key-gone@102ms key-set@210ms",
	} {
		pause := nemesis.Fault{Action: &nemesis.NodePause{Node: 1, ClientPause: paused}, Start: nemesis.At(10 * ms), End: nemesis.After(200 * ms)}
		log := play(t, setting(1, 1, pause), func(w *World) {
			ask(w, 1, 1, set, time.Second)
			sleep(w, 1, 18*ms)
			expect(t, "set by another", ask(w, 1, 1, command(env.OpSet, "b"), time.Second), "yes")
		})
		expect(t, fmt.Sprint("client pause: ", paused), kinds(log, history.KeySet, history.KeyGone), want)
		expect(t, "links", kinds(log, history.LinkDown, history.LinkUp), "link-down@10ms link-up@210ms")
	}
}

// The offset of the clock that takes over is taken from what a key has left to live, or added. A planned failover
// loses nothing, however far behind the replica was, and its requests are sent to another run of the server.
func TestClocksOfTakeovers(t *testing.T) {
	for name, c := range map[string]struct {
		action nemesis.Action
		lag    time.Duration
		want   string
	}{
		"the same clock": {&nemesis.Failover{Node: 1}, 0, "key-gone@102ms"},
		"ahead":          {&nemesis.Failover{Node: 1, Takeover: nemesis.Takeover{ClockOffset: 60 * ms}}, 0, "key-gone@42ms"},
		"behind":         {&nemesis.Failover{Node: 1, Takeover: nemesis.Takeover{ClockOffset: -60 * ms}}, 0, "key-gone@162ms"},
		"planned":        {&nemesis.Failover{Node: 1, Planned: true}, time.Hour, "key-gone@102ms"},
		"planned, ahead": {&nemesis.Failover{Node: 1, Planned: true, Takeover: nemesis.Takeover{ClockOffset: 60 * ms}}, time.Hour, "key-gone@42ms"},
		"restored":       {&nemesis.OldSnapshot{Node: 1, Age: ms, Takeover: nemesis.Takeover{ClockOffset: 60 * ms}}, 0, "key-gone@42ms"},
	} {
		s := setting(1, 1, nemesis.Fault{Action: c.action, Start: nemesis.At(10 * ms), End: nemesis.After(10 * ms)})
		s.Replication = &nemesis.Distribution{Range: nemesis.Range{Min: c.lag, Max: c.lag}}
		log := play(t, s, func(w *World) {
			ask(w, 1, 1, set, time.Second)
			sleep(w, 1, 13*ms) // until 15 ms
			free := command(env.OpSet, "b")
			free.Key = "free"
			want := "failed"
			if f, is := c.action.(*nemesis.Failover); is && f.Planned {
				want = "lost" // it waited on the old master
			}
			expect(t, name+", meanwhile", ask(w, 1, 1, free, time.Second), want)
			sleep(w, 1, 300*ms)
		})
		expect(t, name, kinds(log, history.KeyGone), c.want)
		expect(t, name, kinds(log, history.NodeUp), "node-up@20ms")
	}
}
