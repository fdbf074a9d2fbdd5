package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var pipelined = nemesis.Connections{Pipelined: true}

// over is a setting of one client and one node whose messages take a
// millisecond over such connections.
func over(c nemesis.Connections, plan ...nemesis.Fault) nemesis.Setting {
	s := setting(1, 1, plan...)
	s.Connections = c
	return s
}

func fault(a nemesis.Action, start time.Duration, length time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: a, Start: nemesis.At(start), End: nemesis.After(length)}
}

// request is one SET of a key of its own to node 1.
type request struct {
	after  time.Duration // the one before
	giveUp time.Duration // 0: never
}

// outcomes is what became of requests.
type outcomes struct {
	answers []string // by request, with the time, as in "yes@2ms"
	order   []int    // in which the answers came
	applied []string // keys, in the order in which the node applied them, with the time
	errs    []error  // by request
}

// sendAll lets client 1 send requests, each of which a task waits for. After an
// hour no message may be left in the network.
func sendAll(t fataler, s nemesis.Setting, seed uint64, requests ...request) outcomes {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	s.Horizon += 2 * time.Hour
	var log history.Log
	w, err := Open(context.Background(), s, seed, &log)
	if err != nil {
		t.Fatal(err)
	}
	got := outcomes{answers: make([]string, len(requests)), errs: make([]error, len(requests))}
	err = w.Run(context.Background(), func(int) {
		var tasks []env.Task
		for i, q := range requests {
			sleep(w, 1, q.after)
			giveUp := env.Never
			if q.giveUp > 0 {
				giveUp = w.Runtime(1).Now(env.Monotonic).Add(q.giveUp)
			}
			r := w.Nodes(1).Send(1, named(i), giveUp)
			tasks = append(tasks, w.Runtime(1).Go("wait", func() {
				reply, _ := r.Next(context.Background(), env.Never)
				got.answers[i] = fmt.Sprintf("%v@%v", reply.Answer, w.time())
				got.errs[i] = reply.Err
				got.order = append(got.order, i)
			}))
		}
		for _, task := range tasks {
			_ = task.Wait(context.Background())
		}
		sleep(w, 1, time.Hour)
		if messages := w.network.messages; len(messages.free) != len(messages.all) {
			t.Fatal("messages are left: ", messages)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log {
		if e.Kind == history.KeySet {
			got.applied = append(got.applied, e.Resource+"@"+e.Time.String())
		}
	}
	return got
}

type fataler interface {
	Helper()
	Fatal(...any)
}

// named is the SET of request i, of key "a" for the first.
func named(i int) env.Command {
	return env.Command{Op: env.OpSet, Key: string(rune('a' + i)), Token: "t", TTL: time.Hour}
}

func (o outcomes) expect(t *testing.T, what, answers, applied string) {
	t.Helper()
	expect(t, what+", answers", strings.Join(o.answers, " "), answers)
	expect(t, what+", applied", strings.Join(o.applied, " "), applied)
}

// keys drops the times.
func keys(applied []string) string {
	var all string
	for _, a := range applied {
		key, _, _ := strings.Cut(a, "@")
		all += key
	}
	return all
}

// drawBadNetwork draws a link with varying latency, loss and a cut.
func drawBadNetwork(t *rapid.T, c nemesis.Connections) nemesis.Setting {
	s := over(c,
		fault(&nemesis.Loss{Percent: rapid.IntRange(1, 90).Draw(t, "percent"), RTO: ms}, 0, time.Hour),
		fault(&nemesis.Partition{}, time.Duration(rapid.IntRange(0, 30).Draw(t, "cut"))*ms, 20*ms),
	)
	s.Latency.Max = time.Duration(rapid.IntRange(1, 20).Draw(t, "latency")) * ms
	s.Horizon = time.Hour
	return s
}

func drawRequests(t *rapid.T) []request {
	var all []request
	for range rapid.IntRange(2, 12).Draw(t, "requests") {
		all = append(all, request{after: time.Duration(rapid.IntRange(0, 3).Draw(t, "after")) * ms})
	}
	return all
}

// Law: on one connection neither a request nor a reply overtakes another,
// whatever the network does to messages.
func TestConnectionIsFirstInFirstOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := sendAll(t, drawBadNetwork(t, pipelined), rapid.Uint64().Draw(t, "seed"), drawRequests(t)...)
		if order := keys(got.applied); !slices.IsSorted([]byte(order)) {
			t.Fatalf("applied in the order %s", order)
		}
		if !slices.IsSorted(got.order) {
			t.Fatalf("answered in the order %v", got.order)
		}
	})
}

// Law: loss and cuts are seen as delays and resets. No request is applied
// twice, and one that was answered was applied.
func TestLossDelaysOrResets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]nemesis.Connections{{}, {Limit: 1}, {Limit: 3}, pipelined, batched}).Draw(t, "connections")
		got := sendAll(t, drawBadNetwork(t, c), rapid.Uint64().Draw(t, "seed"), drawRequests(t)...)
		for i, answer := range got.answers {
			times := strings.Count(keys(got.applied), named(i).Key)
			answer, _, _ = strings.Cut(answer, "@")
			switch {
			case answer == "yes" && times == 1:
			case answer == "lost" && times <= 1 && errors.Is(got.errs[i], causes[brokenOff]):
			default:
				t.Fatalf("request %d was applied %d times and answered %s (%v)", i+1, times, answer, got.errs[i])
			}
		}
	})
}

// A message that is lost every time is given up by its sender after as long as Linux takes.
func TestLossOfEverythingResets(t *testing.T) {
	for way, want := range map[nemesis.Direction][2]string{
		nemesis.Requests: {"lost@15m24.6s", ""},
		nemesis.Replies:  {"lost@15m24.602s", "a@1ms"},
	} {
		for _, c := range []nemesis.Connections{{}, {Limit: 1}, pipelined, batched} {
			s := over(c, nemesis.Fault{Action: &nemesis.Loss{Percent: 100, Way: way}})
			s.Horizon = time.Hour
			got := sendAll(t, s, 1, request{})
			got.expect(t, fmt.Sprintf("%s over %+v", way, c), want[0], want[1])
		}
	}
}

// A message that was lost is sent again after the timeout, twice that, and so
// on, and meets the link as it is then.
func TestLossEnds(t *testing.T) {
	lossy := fault(&nemesis.Loss{Percent: 100, RTO: 10 * ms, Way: nemesis.Requests}, 0, 60*ms)
	sendAll(t, over(nemesis.Connections{}, lossy), 1, request{}, request{after: 60 * ms}).
		expect(t, "apart", "yes@72ms yes@62ms", "b@61ms a@71ms")
	sendAll(t, over(pipelined, lossy), 1, request{}, request{after: 60 * ms}).
		expect(t, "in line", "yes@72ms yes@72ms", "a@71ms b@71ms")

	// The timeouts of a reply do not go on where those of the request ended.
	replies := fault(&nemesis.Loss{Percent: 100, RTO: 10 * ms, Way: nemesis.Replies}, 20*ms, 12*ms)
	requests := fault(&nemesis.Loss{Percent: 100, RTO: 10 * ms, Way: nemesis.Requests}, 0, 20*ms)
	sendAll(t, over(nemesis.Connections{}, requests, replies), 1, request{}).expect(t, "one after the other", "yes@42ms", "a@31ms")
}

func TestReset(t *testing.T) {
	cases := map[string]struct {
		way              nemesis.Direction
		start, length    time.Duration
		answers, applied string
	}{
		"before apply":                 {nemesis.Requests, 0, time.Second, "lost@2ms", ""},
		"after apply":                  {nemesis.Replies, 0, time.Second, "lost@2ms", "a@1ms"},
		"both":                         {nemesis.Both, 0, time.Second, "lost@2ms", ""},
		"a request under way":          {nemesis.Requests, ms / 2, 0, "lost@2ms", ""},
		"a reply under way":            {nemesis.Replies, 3 * ms / 2, 0, "lost@2ms", "a@1ms"},
		"a reply, but not that way":    {nemesis.Requests, 3 * ms / 2, 0, "yes@2ms", "a@1ms"},
		"a request, but not that way":  {nemesis.Replies, ms / 2, 0, "yes@2ms", "a@1ms"},
		"a reply under way, both ways": {nemesis.Both, 3 * ms / 2, 0, "lost@2ms", "a@1ms"},
	}
	for name, c := range cases {
		for _, connections := range []nemesis.Connections{{}, {Limit: 1}} {
			got := sendAll(t, over(connections, fault(&nemesis.Reset{Way: c.way}, c.start, c.length)), 1, request{})
			got.expect(t, name, c.answers, c.applied)
			if lost := strings.HasPrefix(c.answers, "lost"); lost && !errors.Is(got.errs[0], causes[brokenOff]) {
				t.Errorf("%s: the client hears %v", name, got.errs[0])
			}
		}
	}
}

// A connection that breaks loses all that is on it; the next request makes
// another.
func TestResetOfAPipelinedConnection(t *testing.T) {
	afterApply := func(start, length time.Duration) nemesis.Setting {
		return over(pipelined, fault(&nemesis.Reset{Way: nemesis.Replies}, start, length))
	}
	three := []request{{}, {after: ms / 2}, {after: 3 * ms}}
	sendAll(t, afterApply(0, time.Second), 1, three...).
		expect(t, "all the time", "lost@2ms lost@2ms lost@5.5ms", "a@1ms c@4.5ms")
	sendAll(t, afterApply(ms/2, ms/2+1), 1, three...).
		expect(t, "for one", "lost@2ms lost@2ms yes@5.5ms", "a@1ms c@4.5ms")
	sendAll(t, afterApply(1200*time.Microsecond, 0), 1, three...).
		expect(t, "a reply under way", "lost@2.2ms lost@2.2ms yes@5.5ms", "a@1ms c@4.5ms")
	sendAll(t, afterApply(0, time.Second), 1, request{}, request{after: 3 * ms / 2}).
		expect(t, "sent before the client hears of it", "lost@2ms lost@2ms", "a@1ms")
	sendAll(t, afterApply(10*ms, 0), 1, three...).
		expect(t, "nothing under way", "yes@2ms yes@2.5ms yes@5.5ms", "a@1ms b@1.5ms c@4.5ms")
}

// A reset once breaks the first connection after its start, and no other.
func TestResetOnce(t *testing.T) {
	once := func(way nemesis.Direction, length time.Duration) nemesis.Setting {
		return over(nemesis.Connections{Limit: 1}, fault(&nemesis.Reset{Way: way, Once: true}, ms, length))
	}
	three := []request{{}, {after: 5 * ms}, {after: 5 * ms}}
	sendAll(t, once(nemesis.Replies, time.Second), 1, three...).expect(t, "replies", "lost@2ms yes@7ms yes@12ms", "a@1ms b@6ms c@11ms")
	sendAll(t, once(nemesis.Requests, time.Second), 1, three...).expect(t, "requests", "lost@2ms yes@7ms yes@12ms", "b@6ms c@11ms")
	sendAll(t, once(nemesis.Replies, ms/2), 1, three[1:]...).expect(t, "nothing meanwhile", "yes@7ms yes@12ms", "a@6ms b@11ms")
}

// A reset once is over on each link when it has struck there, and as a whole after its last link, however
// late its planned end: the history says so. On a link that it does not strike it is over with its plan.
func TestResetOnceIsOverWhenItHasStruck(t *testing.T) {
	for way, want := range map[nemesis.Direction]string{
		nemesis.Requests: "fault-start@0s link-down@0s link-down@0s link-up@1ms link-up@6ms fault-end@6ms",
		nemesis.Both:     "fault-start@0s link-down@0s link-down@0s link-up@6ms link-up@50ms fault-end@50ms",
	} {
		log := play(t, setting(1, 2, fault(&nemesis.Reset{Way: way, Once: true}, 0, 50*ms)), func(w *World) {
			expect(t, "node 1, first", ask(w, 1, 1, set, 10*ms), "lost")
			sleep(w, 1, 3*ms)
			if way == nemesis.Both {
				expect(t, "node 1, again", ask(w, 1, 1, set, 10*ms), "lost")
			} else {
				expect(t, "node 2, first", ask(w, 1, 2, set, 10*ms), "lost")
			}
			sleep(w, 1, 60*ms)
		})
		expect(t, string(way), kinds(log, history.FaultStart, history.FaultEnd, history.LinkDown, history.LinkUp), want)
	}
}

// Another fault may begin on a link where a reset once is over before its planned end.
func TestResetOnceMakesRoomWhenItIsOver(t *testing.T) {
	once := &nemesis.Reset{Way: nemesis.Requests, Once: true}
	play(t, setting(1, 1, fault(once, 0, 50*ms), nemesis.Fault{Action: &nemesis.Reset{}, Start: nemesis.When(1, env.StepGranted, 0), End: &nemesis.Trigger{At: 60 * ms}}), func(w *World) {
		expect(t, "first", ask(w, 1, 1, set, 10*ms), "lost")
		expect(t, "again", ask(w, 1, 1, set, 10*ms), "yes")
		w.Reach(1, env.StepGranted, 0)
		expect(t, "by the other fault", ask(w, 1, 1, set, 10*ms), "lost")
	})
}

// A SET of one byte of key and token has 56 bytes, its reply 5; at a byte a
// millisecond messages leave one after another.
func TestBandwidth(t *testing.T) {
	narrow := func(way nemesis.Direction) nemesis.Fault {
		return fault(&nemesis.Bandwidth{BytesPerSecond: 1000, Way: way}, 0, time.Second)
	}
	for _, c := range []nemesis.Connections{{}, pipelined} {
		sendAll(t, over(c, narrow(nemesis.Requests)), 1, request{}, request{}, request{after: 200 * ms}).
			expect(t, "requests", "yes@58ms yes@114ms yes@258ms", "a@57ms b@113ms c@257ms")
		sendAll(t, over(c, narrow(nemesis.Replies)), 1, request{}, request{after: 2 * ms}).
			expect(t, "replies", "yes@7ms yes@12ms", "a@1ms b@3ms")
		sendAll(t, over(c, narrow(nemesis.Both)), 1, request{}, request{}).
			expect(t, "both", "yes@63ms yes@119ms", "a@57ms b@113ms")
	}
}

func TestSizes(t *testing.T) {
	command := func(op env.Op) *round {
		return &round{command: env.Command{Op: op, Key: "stock", Token: strings.Repeat("t", 40), TTL: 10 * time.Second}}
	}
	natively := func(op env.Op) *round {
		r := command(op)
		r.command.Native = true
		return r
	}
	said := func(op env.Op) *round {
		r := command(op)
		r.details = map[int]replyDetail{0: {number: 1234, token: r.command.Token}}
		return r
	}
	const token = "$40\r\n0123456789012345678901234567890123456789\r\n"
	const set = "*6\r\n$3\r\nset\r\n$5\r\nstock\r\n$40\r\n0123456789012345678901234567890123456789\r\n$2\r\nnx\r\n$2\r\npx\r\n$5\r\n10000\r\n"
	const script = "$7\r\nevalsha\r\n$40\r\n0123456789012345678901234567890123456789\r\n$1\r\n1\r\n$5\r\nstock\r\n$40\r\n0123456789012345678901234567890123456789\r\n"
	const evalsha = "$7\r\nevalsha\r\n$40\r\n0123456789012345678901234567890123456789\r\n"
	cases := []struct {
		message message
		text    string
	}{
		{message{round: command(env.OpSet)}, set},
		{message{round: command(env.OpDelete)}, "*5\r\n" + script},
		{message{round: command(env.OpExtend)}, "*6\r\n" + script + "$5\r\n10000\r\n"},
		{message{round: command(env.OpSet), answer: env.Yes}, "+OK\r\n"},
		{message{round: command(env.OpSet), answer: env.No}, "$-1\r\n"},
		{message{round: command(env.OpExtend), answer: env.No}, ":0\r\n"},
		{message{round: command(env.OpSet), answer: env.Failed, cause: refused}, ""},
		{message{round: command(env.OpSet), answer: env.Failed, cause: oom}, "-OOM command not allowed when used memory > 'maxmemory'\r\n"},
		{message{round: command(env.OpDelete), withScript: true}, "*5\r\n$4\r\neval\r\n$120\r\n" + strings.Repeat("s", scriptBytes) + strings.TrimPrefix(script, evalsha) + "\r\n"},
		{message{round: natively(env.OpExtend)}, "*7\r\n$3\r\nset\r\n$5\r\nstock\r\n" + token + "$4\r\nifeq\r\n" + token + "$2\r\npx\r\n$5\r\n10000\r\n"},
		{message{round: natively(env.OpDelete)}, "*4\r\n$5\r\ndelex\r\n$5\r\nstock\r\n$4\r\nifeq\r\n" + token},
		{message{round: natively(env.OpDelete), rejected: true}, "*5\r\n" + script},
		{message{round: natively(env.OpExtend), answer: env.No}, "$-1\r\n"},
		{message{round: natively(env.OpDelete), answer: env.No}, ":0\r\n"},
		{message{reset: true, answer: env.Lost}, ""},
		{message{round: command(env.OpGet)}, "*2\r\n$3\r\nget\r\n$5\r\nstock\r\n"},
		{message{round: command(env.OpPut)}, "*3\r\n$3\r\nset\r\n$5\r\nstock\r\n" + token},
		{message{round: command(env.OpAdd)}, "*3\r\n$5\r\nsetnx\r\n$5\r\nstock\r\n" + token},
		{message{round: command(env.OpExpire)}, "*3\r\n$7\r\npexpire\r\n$5\r\nstock\r\n$5\r\n10000\r\n"},
		{message{round: command(env.OpRemove)}, "*2\r\n$3\r\ndel\r\n$5\r\nstock\r\n"},
		{message{round: command(env.OpIncrement)}, "*2\r\n$4\r\nincr\r\n$5\r\nstock\r\n"},
		{message{round: said(env.OpGet), answer: env.Yes}, token},
		{message{round: command(env.OpGet), answer: env.No}, "$-1\r\n"},
		{message{round: command(env.OpPut), answer: env.Yes}, "+OK\r\n"},
		{message{round: command(env.OpAdd), answer: env.No}, ":0\r\n"},
		{message{round: said(env.OpIncrement), answer: env.Yes}, ":1234\r\n"},
		{message{round: said(env.OpCount), answer: env.Yes}, "$4\r\n1234\r\n"},
	}
	for _, c := range cases {
		if got := size(&c.message); got != int64(len(c.text)) {
			t.Errorf("%q has %d bytes, not %d", c.text, len(c.text), got)
		}
	}
}

func TestLimitedConnections(t *testing.T) {
	limit := func(n int) nemesis.Connections { return nemesis.Connections{Limit: n} }
	four := make([]request, 4)
	sendAll(t, over(limit(1)), 1, four...).expect(t, "one", "yes@2ms yes@4ms yes@6ms yes@8ms", "a@1ms b@3ms c@5ms d@7ms")
	sendAll(t, over(limit(2)), 1, four...).expect(t, "two", "yes@2ms yes@2ms yes@4ms yes@4ms", "a@1ms b@1ms c@3ms d@3ms")
	sendAll(t, over(limit(4)), 1, four...).expect(t, "four", "yes@2ms yes@2ms yes@2ms yes@2ms", "a@1ms b@1ms c@1ms d@1ms")

	// The first is given up on its way, which frees its place; the second
	// before it has its turn. The third does not overtake the fourth.
	cut := fault(&nemesis.Partition{Way: nemesis.Replies}, 0, 8*ms)
	sendAll(t, over(limit(1), cut), 1, request{giveUp: 5 * ms}, request{giveUp: 4 * ms}, request{giveUp: 9 * ms}, request{}).
		expect(t, "given up", "lost@5ms lost@4ms lost@9ms yes@11ms", "a@1ms c@6ms d@10ms")
}

func TestLinksOfTheirOwnLatency(t *testing.T) {
	s := over(nemesis.Connections{})
	s.Links = []nemesis.LinkLatency{
		{Links: nemesis.Links{Nodes: []int{1}}, Latency: later(5 * ms)},
		{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{1}}, Way: nemesis.Requests, Latency: later(3 * ms)},
	}
	sendAll(t, s, 1, request{}).expect(t, "three there, five back", "yes@8ms", "a@3ms")
}

func TestGuardHasALatencyOfItsOwn(t *testing.T) {
	slow := fault(&nemesis.GuardLatency{Clients: []int{1}, Add: nemesis.Distribution{Range: nemesis.Range{Min: 7 * ms, Max: 7 * ms}}}, 0, 20*ms)
	s := setting(2, 1, slow)
	s.GuardLatency = &nemesis.Distribution{Range: nemesis.Range{Min: 3 * ms, Max: 3 * ms}}
	writer := func(client int) func(*World) {
		return func(w *World) {
			for range 3 {
				_ = w.Register(client).Write(context.Background(), env.Access{Resource: "r"}, 1)
			}
		}
	}
	log := play(t, s, writer(1), writer(2))
	var got []string
	for _, e := range log {
		if e.Kind == history.Apply {
			got = append(got, fmt.Sprintf("%d@%v", e.Client, e.Time))
		}
	}
	expect(t, "writes", strings.Join(got, " "), "2@3ms 2@9ms 1@10ms 2@15ms 1@23ms 1@29ms")
	expect(t, "links", kinds(log, history.LinkDown), "")
}

// A link that is cut for good keeps nothing, whatever the connection.
func TestCutForGoodKeepsNothing(t *testing.T) {
	for name, action := range map[string]nemesis.Action{
		"both ways": &nemesis.Partition{},
		"requests":  &nemesis.Partition{Way: nemesis.Requests},
		"replies":   &nemesis.Partition{Way: nemesis.Replies},
		"a split":   &nemesis.Split{Groups: []nemesis.Group{{Clients: []int{1}}, {Nodes: []int{1}}}},
	} {
		for _, connections := range []nemesis.Connections{{}, {Limit: 2}, pipelined, batched} {
			s := setting(1, 1, nemesis.Fault{Action: action, Start: nemesis.At(20 * ms)},
				nemesis.Fault{Action: &nemesis.Reset{}, Start: nemesis.At(30 * ms), End: nemesis.After(10 * ms)})
			s.Connections = connections
			play(t, s, func(w *World) {
				for range 100 {
					ask(w, 1, 1, set, 3*ms)
					sleep(w, 1, 3*ms)
				}
				l := w.network.link(1, 1)
				kept := len(w.network.messages.all) - len(w.network.messages.free) + len(l.requests.held) + len(l.replies.held)
				if c := l.connection; c != nil {
					kept += len(c.awaiting) + len(c.requests.slots) + len(c.replies.slots)
				}
				if kept > 3 {
					t.Errorf("%s, connections %v: %d messages, places and rounds are kept", name, connections, kept)
				}
			})
		}
	}
}
