package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// asynchronous is a world whose store answers before the 30 ms that a change
// takes to its replicas.
func asynchronous(clients, nodes int, plan ...nemesis.Fault) nemesis.Setting {
	s := stored(clients, nodes, plan...)
	s.Store.Asynchronous, s.Store.Commit = true, always(30*ms)
	return s
}

func crash(node int, start, length time.Duration) nemesis.Fault {
	return fault(&nemesis.Crash{Node: node}, start, length)
}

// isolate cuts nodes off from the others.
func isolate(start, length time.Duration, nodes ...int) nemesis.Fault {
	return fault(&nemesis.PeerPartition{Nodes: nodes}, start, length)
}

// The next node that runs leads, in a circle, if a majority runs; a majority that
// comes back elects.
func TestElections(t *testing.T) {
	for name, c := range map[string]struct {
		s    nemesis.Setting
		want string
	}{
		"in a circle":          {stored(1, 3, crash(1, 10*ms, 40*ms), crash(2, 60*ms, 10*ms), crash(3, 100*ms, 10*ms)), "1@0s 0@10ms 2@30ms 0@60ms 3@80ms 0@100ms 1@120ms"},
		"past one":             {stored(1, 5, crash(2, 5*ms, time.Second), crash(1, 10*ms, 10*ms)), "1@0s 0@10ms 3@30ms"},
		"back too soon":        {stored(1, 3, crash(1, 10*ms, 5*ms)), "1@0s 0@10ms 2@30ms"},
		"a follower":           {stored(1, 3, crash(2, 10*ms, 10*ms)), "1@0s"},
		"no majority":          {stored(1, 3, crash(3, 10*ms, 100*ms), crash(2, 20*ms, 50*ms)), "1@0s 0@20ms 2@90ms"},
		"lost in between":      {stored(1, 3, crash(1, 10*ms, 100*ms), crash(2, 20*ms, 60*ms)), "1@0s 0@10ms 2@100ms"},
		"half":                 {stored(1, 4, crash(3, 10*ms, 100*ms), crash(2, 20*ms, 50*ms)), "1@0s 0@20ms 2@90ms"},
		"alone":                {stored(1, 1, crash(1, 10*ms, 10*ms)), "1@0s 0@10ms 1@40ms"},
		"one that fell out":    {stored(1, 3, crash(1, 10*ms, 90*ms), crash(2, 25*ms, 2*ms)), "1@0s 0@10ms 2@30ms"},
		"stands still":         {stored(1, 3, fault(&nemesis.NodePause{Node: 1}, 10*ms, ms)), "1@0s 0@10ms 2@30ms"},
		"pauses its clients":   {stored(1, 3, fault(&nemesis.NodePause{Node: 1, ClientPause: true}, 10*ms, 50*ms)), "1@0s"},
		"hands over":           {stored(1, 3, fault(&nemesis.Failover{Node: 1, Planned: true}, 10*ms, 50*ms)), "1@0s 0@60ms 2@60ms"},
		"no leader hands over": {stored(1, 3, fault(&nemesis.Failover{Node: 2, Planned: true}, 10*ms, 50*ms)), "1@0s"},
		"asynchronous":         {asynchronous(1, 2, crash(1, 10*ms, time.Second)), "1@0s 0@10ms 2@30ms"},
		"no replica is left":   {asynchronous(1, 2, crash(2, 5*ms, time.Second), crash(1, 10*ms, 10*ms)), "1@0s 0@10ms 1@40ms"},
		"power":                {stored(1, 3, fault(&nemesis.PowerLoss{Node: 1}, 10*ms, time.Second)), "1@0s 0@10ms 2@30ms"},
		"shutdown":             {stored(1, 3, fault(&nemesis.Shutdown{Node: 1}, 10*ms, time.Second)), "1@0s 0@10ms 2@30ms"},
		"cut off":              {stored(1, 3, isolate(10*ms, 100*ms, 1)), "1@0s 0@10ms 2@30ms"},
		"the others cut off":   {stored(1, 3, isolate(10*ms, 100*ms, 2, 3)), "1@0s 0@10ms 2@30ms"},
		"a follower cut off":   {stored(1, 3, isolate(10*ms, 100*ms, 2)), "1@0s"},
		"past one cut off":     {stored(1, 5, isolate(5*ms, time.Second, 2), crash(1, 10*ms, 10*ms)), "1@0s 0@10ms 3@30ms"},
		"healed too soon":      {stored(1, 3, isolate(10*ms, 5*ms, 1)), "1@0s 0@10ms 2@30ms"},
		"cut in halves":        {stored(1, 4, isolate(10*ms, 100*ms, 3, 4)), "1@0s 0@10ms 2@130ms"},
		"cut and crashed":      {stored(1, 5, isolate(10*ms, 200*ms, 5), crash(3, 20*ms, 40*ms), crash(4, 30*ms, 40*ms)), "1@0s 0@30ms 2@80ms"},
		"old snapshot":         {stored(1, 3, fault(&nemesis.OldSnapshot{Node: 1, Age: ms}, 10*ms, time.Second)), "1@0s 0@10ms 2@30ms"},
	} {
		expect(t, name, leaders(play(t, c.s, func(w *World) { sleep(w, 1, 2*time.Second) })), c.want)
	}
}

// Agreed entries outlast all nodes, whatever their persistence.
func TestStoreOutlastsItsNodes(t *testing.T) {
	plan := nemesis.Plan{crash(1, 10*ms, 50*ms), crash(2, 10*ms, 50*ms), crash(3, 10*ms, 50*ms)}
	play(t, stored(1, 3, plan...), func(w *World) {
		u := user{w, 1}
		expect(t, "create", u.ask(create("k", "v"), time.Second), "k@1=v at 4ms")
		sleep(w, 1, 16*ms)
		expect(t, "while all are down", u.ask(list, time.Second), "no leader at 22ms")
		sleep(w, 1, 78*ms)
		expect(t, "later", u.ask(list, time.Second), "k@1=v at 102ms")
	})
}

// An asynchronous store answers at once. A new leader lacks what had not come to
// it, and uses its revisions again.
func TestAsynchronousStoreForgets(t *testing.T) {
	log := play(t, asynchronous(1, 2, crash(1, 36*ms, time.Second)), func(w *World) {
		u := user{w, 1}
		u.connect(2)
		expect(t, "first", u.ask(create("a", "1"), time.Second), "a@1=1 at 2ms")
		expect(t, "second", u.ask(create("b", "2"), time.Second), "b@2=2 at 4ms") // at its replica at 33 ms
		sleep(w, 1, 3*ms)
		expect(t, "third", u.ask(create("c", "3"), time.Second), "c@3=3 at 9ms") // at 38 ms
		expect(t, "first again", u.ask(remove("a"), time.Second), "done at 11ms")
		until(w, 1, 60*ms)
		u.connect(2)
		expect(t, "what is left", u.ask(list, time.Second), "a@1=1 b@2=2 at 62ms")
		expect(t, "anew", u.ask(create("c", "4"), time.Second), "c@3=4 at 64ms")
	})
	expect(t, "leaders", leaders(log), "1@0s 0@36ms 2@56ms")
	expect(t, "told", goneEntries(log), "2 leads without the last 2 changes; 3 forgotten at 56ms")
}

// A leader that pauses its clients holds their requests back, at whatever node they are, and nothing expires. One that
// hands over loses nothing, though it answers before it replicates.
func TestLeaderPausesItsClients(t *testing.T) {
	for name, c := range map[string]struct {
		action nemesis.Action
		want   string
	}{
		"goes on":    {&nemesis.NodePause{Node: 1, ClientPause: true}, "1@0s"},
		"hands over": {&nemesis.Failover{Node: 1, Planned: true}, "1@0s 0@60ms 2@60ms"},
	} {
		log := play(t, asynchronous(1, 2, fault(c.action, 10*ms, 50*ms)), func(w *World) {
			u := user{w, 1}
			short := create("a", "1")
			short.TTL, short.Expires = 20*ms, true
			u.ask(short, time.Second)
			until(w, 1, 8*ms)
			expect(t, name+", before", u.ask(create("b", "2"), time.Second), "b@2=2 at 10ms") // at its replica at 39 ms
			u.connect(2)
			expect(t, name+", meanwhile", u.ask(create("c", "3"), time.Second), "c@4=3 at 61ms")
			expect(t, name+", left", u.ask(list, time.Second), "b@2=2 c@4=3 at 63ms")
		})
		expect(t, name, leaders(log), c.want)
		expect(t, name, goneEntries(log), "1 expired at 60ms")
	}
}

// goneEntries lists the recorded losses of leaders, and the entries that no client deleted.
func goneEntries(log history.Log) string {
	var told []string
	for _, e := range log {
		switch {
		case e.Kind == history.Leader && e.Detail != "":
			told = append(told, fmt.Sprintf("%d leads %s", e.Node, e.Detail))
		case e.Kind == history.EntryGone:
			told = append(told, fmt.Sprintf("%s %s at %v", e.Token, e.Reason, e.Time))
		}
	}
	return strings.Join(told, "; ")
}

// A client is not notified of the deletion of its own entry by itself.
func TestEntriesThatNobodyDeletedAreTold(t *testing.T) {
	log := play(t, stored(1, 3), func(w *World) {
		u := user{w, 1}
		session := u.open(t, 20*ms)
		u.ask(env.StoreRequest{Op: env.StoreCreate, Key: "a", Value: "A", Session: session}, time.Second)
		u.ask(env.StoreRequest{Op: env.StoreCreate, Key: "b", Value: "B", TTL: 30 * ms}, time.Second)
		u.ask(create("c", "C"), time.Second)
		u.ask(remove("c"), time.Second)
		until(w, 1, 60*ms)
		u.ask(env.StoreRequest{Op: env.StoreSweep}, time.Second)
	})
	expect(t, "told", goneEntries(log), "A session over at 21ms; B swept at 61ms")
}

// A leader whose changes are in its memory when it answers loses them in a crash, whoever leads next,
// and in no clean shutdown. It needs a majority as ever.
func TestDurabilityOff(t *testing.T) {
	off := func(nodes int, mode nemesis.Durability, plan nemesis.Action) nemesis.Setting {
		s := stored(1, nodes, fault(plan, 10*ms, 20*ms))
		s.Store.Durability, s.Store.Commit = mode, always(30*ms)
		return s
	}
	for name, c := range map[string]struct {
		s    nemesis.Setting
		left string
	}{
		"restart":          {off(1, nemesis.Off, &nemesis.Crash{Node: 1}), "done"},
		"another leads":    {off(3, nemesis.Off, &nemesis.Crash{Node: 1}), "done"},
		"pause":            {off(1, nemesis.Off, &nemesis.NodePause{Node: 1}), "a@1=1"},
		"shutdown":         {off(3, nemesis.Off, &nemesis.Shutdown{Node: 1}), "a@1=1"},
		"a follower":       {off(3, nemesis.Off, &nemesis.Crash{Node: 2}), "a@1=1"},
		"memory of others": {off(3, nemesis.RemoteWrite, &nemesis.Crash{Node: 1}), "a@1=1"},
	} {
		play(t, c.s, func(w *World) {
			u := user{w, 1}
			want := "a@1=1 at 2ms"
			if c.s.Store.Durability == nemesis.RemoteWrite {
				want = "lost at 11ms" // by the client; a majority has it
			}
			expect(t, name+": create", u.ask(create("a", "1"), time.Second), want)
			for now := 90 * ms; ; now += 10 * ms {
				until(w, 1, now)
				if left := u.ask(list, time.Second); !strings.HasPrefix(left, "no leader") && !strings.HasPrefix(left, "lost") {
					expect(t, name+": what is left", strings.Split(left, " at ")[0], c.left)
					return
				}
			}
		})
	}
}

// Sessions go back as well: to when they were last known to be kept, and to those
// that were known at all. The new leader counts anew.
func TestAsynchronousSessions(t *testing.T) {
	play(t, asynchronous(1, 2, crash(1, 40*ms, time.Second)), func(w *World) {
		u := user{w, 1}
		u.connect(2)
		first := u.open(t, 100*ms)
		u.ask(ephemeral("first", first), time.Second)
		until(w, 1, 20*ms)
		second := u.open(t, 100*ms)
		u.ask(ephemeral("second", second), time.Second)
		until(w, 1, 70*ms) // 2 leads since 60 ms
		u.connect(2)
		expect(t, "left", u.ask(list, time.Second), "first@2= at 72ms")
		expect(t, "the second", u.ask(env.StoreRequest{Op: env.StoreKeep, Session: second}, time.Second), "declined at 74ms")
		until(w, 1, 158*ms)
		expect(t, "left", u.ask(list, time.Second), "first@2= at 160ms")
		expect(t, "over", u.ask(list, time.Second), "done at 162ms")
	})
}
