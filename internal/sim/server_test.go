package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// command is a command of a lock on the key "r".
func command(op env.Op, token string) env.Command {
	c := set
	c.Op, c.Token = op, token
	return c
}

// Requests wait in the socket of a server that stands still, and are carried
// out in their order when it continues, by its clock of then.
func TestStoppedNodeContinues(t *testing.T) {
	s := setting(2, 1, nemesis.Fault{Action: &nemesis.NodePause{Node: 1}, Start: nemesis.At(10 * ms), End: nemesis.After(200 * ms)})
	log := play(t, s, func(w *World) {
		ask(w, 1, 1, set, time.Second)
		sleep(w, 1, 18*ms)
		expect(t, "given up", ask(w, 1, 1, command(env.OpSet, "b"), 10*ms), "lost")
		expect(t, "behind it", ask(w, 1, 1, command(env.OpDelete, "b"), time.Second), "yes")
	}, func(w *World) { sleep(w, 2, 300*ms) })
	expect(t, "keys", kinds(log, history.KeySet, history.KeyGone), "key-set@1ms key-gone@102ms key-set@210ms key-gone@210ms")
	expect(t, "links", kinds(log, history.LinkDown, history.LinkUp), "link-down@10ms link-down@10ms link-up@210ms link-up@210ms")
}

// The errors of a node, and the requests that they affect. Package internal/contract compares them
// with a real server.
func TestErrorsMeetWhatTheyMeetInRedis(t *testing.T) {
	for name, want := range map[nemesis.ErrorName]string{
		nemesis.Loading:  "failed failed failed failed failed failed",
		nemesis.OOM:      "failed failed no yes yes yes",
		nemesis.ReadOnly: "failed failed no failed yes failed",
	} {
		s := setting(1, 2, nemesis.Fault{Action: &nemesis.NodeError{Nodes: []int{1}, Error: name}, Start: nemesis.At(10 * ms), End: nemesis.After(90 * ms)})
		log := play(t, s, func(w *World) {
			ask(w, 1, 1, set, time.Second)
			sleep(w, 1, 18*ms)
			free := set
			free.Key = "free"
			shorter := command(env.OpExtend, "a")
			shorter.TTL = ms
			got := ""
			for _, c := range []env.Command{free, set, command(env.OpDelete, "b"), command(env.OpExtend, "a"), shorter, command(env.OpDelete, "a")} {
				got += " " + ask(w, 1, 1, c, time.Second)
			}
			expect(t, string(name), got, " "+want)
			expect(t, "another node", ask(w, 1, 2, set, time.Second), "yes")
			sleep(w, 1, 100*ms)
			expect(t, "afterwards", ask(w, 1, 1, free, time.Second), "yes")
		})
		expect(t, "links", kinds(log, history.LinkDown, history.LinkUp), "link-down@10ms link-up@100ms")
	}
}

// natively is a command of a lock on the key "r" that allows native commands.
func natively(op env.Op, token string, ttl time.Duration) env.Command {
	c := command(op, token)
	c.Native, c.TTL = true, ttl
	return c
}

// A native extension sets the life of a key of its token, even to less; a script raises it. Neither creates a key.
func TestNativeExtensionSetsTheLife(t *testing.T) {
	for native, want := range map[bool]string{true: "expired", false: "held"} {
		play(t, setting(1, 1), func(w *World) {
			expect(t, "no key", ask(w, 1, 1, natively(env.OpExtend, "a", ms), time.Second), "no")
			ask(w, 1, 1, set, time.Second)
			expect(t, "another's", ask(w, 1, 1, natively(env.OpExtend, "b", ms), time.Second), "no")
			less := natively(env.OpExtend, "a", 5*ms)
			less.Native = native
			expect(t, "to less", ask(w, 1, 1, less, time.Second), "yes")
			sleep(w, 1, 20*ms)
			got := map[string]string{"yes": "expired", "no": "held"}[ask(w, 1, 1, command(env.OpSet, "b"), time.Second)]
			expect(t, fmt.Sprint("native: ", native), got, want)
		})
	}
}

// A native command that a server answers with an error is sent as a script, which a server without memory can
// carry out, and which needs the script's round trips.
func TestRejectedNativeCommandIsSentAsAScript(t *testing.T) {
	for name, c := range map[nemesis.ErrorName]struct{ extend, erase string }{
		nemesis.Loading:  {"failed 4ms", "failed 4ms"},
		nemesis.OOM:      {"yes 4ms", "yes 2ms"},
		nemesis.ReadOnly: {"failed 4ms", "failed 4ms"},
		"":               {"yes 2ms", "yes 2ms"},
	} {
		for _, batched := range []bool{false, true} {
			s := setting(1, 1)
			if name != "" {
				s = setting(1, 1, nemesis.Fault{Action: &nemesis.NodeError{Error: name}, Start: nemesis.At(10 * ms)})
			}
			s.Connections.Batched = batched
			play(t, s, func(w *World) {
				ask(w, 1, 1, set, time.Second)
				sleep(w, 1, 18*ms)
				timed := func(c env.Command) string {
					before := w.Runtime(1).Now(env.Monotonic)
					return fmt.Sprint(ask(w, 1, 1, c, time.Second), " ", w.Runtime(1).Now(env.Monotonic).Sub(before))
				}
				what := fmt.Sprint(name, ", batched: ", batched)
				expect(t, what, timed(natively(env.OpExtend, "a", time.Hour)), c.extend)
				expect(t, what, timed(natively(env.OpDelete, "a", time.Hour)), c.erase)
			})
		}
	}
}

func TestErrorsSayWhy(t *testing.T) {
	for name, want := range map[nemesis.ErrorName]string{nemesis.Loading: "LOADING", nemesis.OOM: "OOM", nemesis.ReadOnly: "READONLY"} {
		play(t, setting(1, 1, nemesis.Fault{Action: &nemesis.NodeError{Error: name}, Start: nemesis.At(0)}), func(w *World) {
			reply, _ := w.Nodes(1).Send(1, set, env.Never).Next(context.Background(), env.Never)
			if reply.Err == nil || reply.Err.Error()[:len(want)] != want {
				t.Errorf("%s: %v", name, reply.Err)
			}
		})
	}
}

// A script that a node does not know costs a round trip more, once.
func TestForgottenScriptsTakeAnotherRoundTrip(t *testing.T) {
	crash := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(0), End: nemesis.After(0)}
	flush := nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}, Start: nemesis.At(0)}
	for name, c := range map[string]struct {
		plan nemesis.Plan
		want string
	}{
		"loaded at first": {nil, "2ms 2ms 2ms 2ms 2ms"},
		"flush":           {nemesis.Plan{flush}, "2ms 4ms 2ms 4ms 2ms"},
		"restart":         {nemesis.Plan{crash}, "2ms 4ms 2ms 4ms 2ms"},
	} {
		play(t, setting(1, 1, c.plan...), func(w *World) {
			got := ""
			for _, op := range []env.Op{env.OpSet, env.OpExtend, env.OpExtend, env.OpDelete, env.OpDelete} {
				before := w.Runtime(1).Now(env.Monotonic)
				ask(w, 1, 1, command(op, "a"), time.Second)
				got += " " + w.Runtime(1).Now(env.Monotonic).Sub(before).String()
			}
			expect(t, name, got, " "+c.want)
		})
	}
}

// A script is not sent for a request that was given up, nor while its client
// stands still.
func TestScriptIsSentByAClientThatWaitsForIt(t *testing.T) {
	flush := nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}, Start: nemesis.At(3 * ms)}
	drop := command(env.OpDelete, "a")
	log := play(t, setting(1, 1, flush), func(w *World) {
		ask(w, 1, 1, set, time.Second)
		sleep(w, 1, 2*ms)
		expect(t, "given up", ask(w, 1, 1, drop, 1500*time.Microsecond), "lost")
		sleep(w, 1, 50*ms)
	})
	expect(t, "given up", kinds(log, history.KeyGone), "")

	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(5 * ms), End: nemesis.After(30 * ms)}
	log = play(t, setting(1, 1, flush, pause), func(w *World) {
		ask(w, 1, 1, set, time.Second)
		sleep(w, 1, 2*ms)
		expect(t, "paused", ask(w, 1, 1, drop, time.Second), "yes")
	})
	expect(t, "paused", kinds(log, history.KeyGone), "key-gone@36ms")
}

// NOSCRIPT is found out by a command, and LOADING before there is one: scripts
// are neither missed nor loaded meanwhile.
func TestLoadingGoesBeforeMissingScripts(t *testing.T) {
	drop := command(env.OpDelete, "a")
	for name, c := range map[string]struct {
		loading time.Duration
		want    string
	}{
		"from the start":    {0, "failed@2ms no@64ms"},
		"before the script": {2 * ms, "failed@4ms no@64ms"},
	} {
		s := setting(1, 1,
			nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}, Start: nemesis.At(0)},
			fault(&nemesis.NodeError{Error: nemesis.Loading}, c.loading, 40*ms))
		play(t, s, func(w *World) {
			got := ask(w, 1, 1, drop, time.Second) + "@" + w.time().String()
			_ = w.Runtime(1).Sleep(context.Background(), env.Instant(60*ms))
			expect(t, name, got+" "+ask(w, 1, 1, drop, time.Second)+"@"+w.time().String(), c.want)
		})
	}
}

// A script is a new request: its timeouts do not go on where those of the answer
// ended which asked for it.
func TestScriptIsLostAnew(t *testing.T) {
	lossy := func(way nemesis.Direction, start, length time.Duration) nemesis.Fault {
		return fault(&nemesis.Loss{Percent: 100, RTO: 10 * ms, Way: way}, start, length)
	}
	s := setting(1, 1, nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}, Start: nemesis.At(0)},
		lossy(nemesis.Replies, 0, 15*ms), lossy(nemesis.Requests, 30*ms, 5*ms))
	play(t, s, func(w *World) {
		expect(t, "answer", ask(w, 1, 1, command(env.OpDelete, "a"), time.Second)+"@"+w.time().String(), "no@44ms")
	})
}

// A thread that does something else evicts nothing until it goes on; one that
// dies meanwhile never does.
func TestEvictionWaitsForTheThread(t *testing.T) {
	evict := nemesis.Fault{Action: &nemesis.Evict{Node: 1}, Start: nemesis.At(10 * ms)}
	for name, c := range map[string]struct {
		other nemesis.Fault
		sync  time.Duration
		want  string
	}{
		"stands still":       {fault(&nemesis.NodePause{Node: 1}, 5*ms, 20*ms), 0, "key-gone@25ms"},
		"waits for its disk": {nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}, Start: nemesis.At(5 * ms)}, 20 * ms, "key-gone@21ms"},
		"dies":               {fault(&nemesis.Crash{Node: 1}, 15*ms, 0), 20 * ms, ""},
	} {
		s := setting(1, 1, c.other, evict)
		s.Persistence = nemesis.Always
		s.Sync = &nemesis.Distribution{Range: nemesis.Range{Min: c.sync, Max: c.sync}}
		log := play(t, s, func(w *World) {
			ask(w, 1, 1, set, time.Second)
			sleep(w, 1, 50*ms)
			ask(w, 1, 1, named(1), time.Second) // for which the thread waits for its disk once more
		})
		expect(t, name, kinds(log, history.KeyGone), c.want)
		for _, e := range log {
			if e.Kind == history.KeyGone && (e.Fault != 2 || e.Reason != "evicted") {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// Requests to a server that will never answer are dropped.
func TestSilentServersCostNoMemory(t *testing.T) {
	for _, silent := range []nemesis.Action{&nemesis.NodePause{Node: 1}, &nemesis.PowerLoss{Node: 1}} {
		for _, c := range []nemesis.Connections{{}, {Limit: 1}, pipelined, batched} {
			play(t, over(c, nemesis.Fault{Action: silent, Start: nemesis.At(0)}), func(w *World) {
				for range 100 {
					expect(t, silent.String(), ask(w, 1, 1, set, 5*ms), "lost")
				}
				if n := len(w.network.messages.all); n > 3 {
					t.Errorf("%v over %+v: %d messages", silent, c, n)
				}
				if c := w.network.link(1, 1).connection; c != nil && len(c.awaiting) > 3 {
					t.Errorf("%v: %d rounds", silent, len(c.awaiting))
				}
			})
		}
	}
}

// A node has two masters, each for some clients, until the old one is demoted: what only
// that had is lost. The history has what either keeps.
func TestSplitBrain(t *testing.T) {
	s := setting(2, 1, nemesis.Fault{Action: &nemesis.SplitBrain{Node: 1, Clients: []int{1}}, Start: nemesis.At(150 * ms), End: nemesis.After(100 * ms)})
	s.Replication = &nemesis.Distribution{Range: nemesis.Range{Min: 100 * ms, Max: 100 * ms}}
	command := func(op env.Op, key, token string) env.Command {
		return env.Command{Op: op, Key: key, Token: token, TTL: time.Hour}
	}
	w, err := Open(t.Context(), s, 1, new(history.Log))
	if err != nil {
		t.Fatal(err)
	}
	log := w.sink.(*history.Log)
	err = w.Run(t.Context(), func(client int) {
		wait := func(until time.Duration) { sleep(w, client, until-time.Duration(w.now)) }
		want := func(what, want string, c env.Command) {
			t.Helper()
			if got := ask(w, client, 1, c, time.Second); got != want {
				t.Errorf("client %d, %s: %s, want %s", client, what, got, want)
			}
		}
		mine := fmt.Sprint("of client ", client)
		if client == 1 {
			want("old", "yes", command(env.OpSet, "old", "a"))
			wait(120 * ms)
			want("young", "yes", command(env.OpSet, "young", "a"))
		}
		wait(160 * ms)
		if client == 1 {
			want("deletes at the old master", "yes", command(env.OpDelete, "old", "a"))
		} else {
			t.Log("two")
			want("has come to the new master", "no", command(env.OpSet, "old", "b"))
			want("has not come there", "yes", command(env.OpSet, "young", "b"))
		}
		want("its own", "yes", command(env.OpSet, mine, "c"))
		wait(260 * ms)
		want("the key of client 1", []string{"yes", "no"}[client-1], command(env.OpSet, "of client 1", "d"))
		want("the key of client 2", "no", command(env.OpSet, "of client 2", "d"))
		want("young", "no", command(env.OpSet, "young", "d"))
		want("old", "no", command(env.OpSet, "old", "d"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := w.node(1); n.peer != nil || n.run != 2 {
		t.Errorf("run %d, peer %v: want one master, in its second run", n.run, n.peer)
	}
	var lost []string
	for _, e := range *log {
		if e.Kind == history.KeyGone && e.Reason == history.RolledBack || e.Kind == history.KeySet && e.Client == 0 {
			lost = append(lost, fmt.Sprintf("%v %v %s %s", e.Time, e.Kind, e.Resource, e.Token))
		}
	}
	if want := "250ms key-gone young a"; !slices.Contains(lost, want) || !slices.Contains(lost, "250ms key-gone of client 1 c") {
		t.Errorf("the history tells %q, want %q and the like", lost, want)
	}
}
