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

// A leader that is cut off answers nobody; its clients go on to another node. When it is back it
// follows.
func TestLeaderIsCutOff(t *testing.T) {
	log := play(t, stored(1, 3, isolate(10*ms, 100*ms, 1)), func(w *World) {
		u := user{w, 1}
		expect(t, "before", u.ask(create("a", "1"), time.Second), "a@1=1 at 4ms")
		until(w, 1, 8*ms)
		expect(t, "when it is cut off", u.ask(create("b", "2"), time.Second), "lost at 11ms")
		expect(t, "at the next node", u.ask(list, time.Second), "no leader at 13ms")
		until(w, 1, 40*ms)
		u.connect(1)
		expect(t, "at the old leader", u.ask(create("c", "3"), time.Second), "no leader at 42ms")
		expect(t, "at the new one", u.ask(list, time.Second), "a@1=1 b@2=2 at 44ms")
		until(w, 1, 120*ms)
		u.connect(1)
		expect(t, "when it is back", u.ask(create("d", "4"), time.Second), "d@3=4 at 124ms")
	})
	expect(t, "leaders", leaders(log), "1@0s 0@10ms 2@30ms")
	expect(t, "links", linksDown(log), "1-1 down@10ms 1-1 up@110ms")
}

// A follower that is cut off answers nobody either; the others are not disturbed.
func TestFollowerIsCutOff(t *testing.T) {
	log := play(t, stored(1, 3, isolate(10*ms, 100*ms, 2)), func(w *World) {
		u := user{w, 1}
		u.connect(2)
		until(w, 1, 8*ms)
		expect(t, "when it is cut off", u.ask(create("a", "1"), time.Second), "lost at 11ms")
		u.connect(2)
		expect(t, "while it is", u.ask(list, time.Second), "no leader at 13ms")
		expect(t, "at the next node", u.ask(create("b", "2"), time.Second), "b@2=2 at 17ms")
		until(w, 1, 120*ms)
		u.connect(2)
		expect(t, "when it is back", u.ask(list, time.Second), "a@1=1 b@2=2 at 122ms")
	})
	expect(t, "leaders", leaders(log), "1@0s")
}

// A node that is cut off, or has stood still, answers serializable reads from the state that it had.
func TestSerializableRead(t *testing.T) {
	read := list
	read.Serializable = true
	for what, c := range map[string]struct {
		fault nemesis.Fault
		stale string
	}{
		"cut off":     {isolate(10*ms, 100*ms, 2), "a@1=1 at 26ms"},
		"stood still": {fault(&nemesis.NodePause{Node: 2}, 10*ms, 100*ms), "a@1=1 at 111ms"},
	} {
		play(t, stored(1, 3, c.fault), func(w *World) {
			u := user{w, 1}
			u.ask(create("a", "1"), time.Second)
			until(w, 1, 20*ms)
			expect(t, what+", at the leader", u.ask(create("b", "2"), time.Second), "b@2=2 at 24ms")
			u.connect(2)
			expect(t, what, u.ask(read, time.Second), c.stale)
			until(w, 1, 120*ms)
			expect(t, what+", later", u.ask(read, time.Second), "a@1=1 b@2=2 at 122ms")
		})
	}
}

// A connection to a leader that is cut off ends, and its entries with it.
func TestConnectionToALeaderThatIsCutOff(t *testing.T) {
	log := play(t, stored(1, 3, isolate(10*ms, 100*ms, 1)), func(w *World) {
		u := user{w, 1}
		c := u.openConnection(t, env.SessionConnection, time.Second)
		expect(t, "create", c.asks(env.StoreCreate, "k"), "k@0=v at 4ms")
		until(w, 1, 50*ms)
		expect(t, "while it is cut off", c.asks(env.StoreKeep, ""), "no leader at 52ms")
	})
	expect(t, "told", goneEntries(log), "v session over at 10ms")
}

// linksDown lists when links of clients to nodes count as down, and as up again.
func linksDown(log history.Log) string {
	var told []string
	for _, e := range log {
		switch e.Kind {
		case history.LinkDown:
			told = append(told, fmt.Sprintf("%d-%d down@%v", e.Client, e.Node, e.Time))
		case history.LinkUp:
			told = append(told, fmt.Sprintf("%d-%d up@%v", e.Client, e.Node, e.Time))
		}
	}
	return strings.Join(told, " ")
}
