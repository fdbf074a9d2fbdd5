package sim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// toNode is the link of client 1 to a node.
func toNode(node int) nemesis.Links { return nemesis.Links{Clients: []int{1}, Nodes: []int{node}} }

// A client stays with its node until a request fails, and then goes on to the
// next one. Client 1 begins at node 1, which leads.
func TestClientGoesOnToTheNextNode(t *testing.T) {
	for name, c := range map[string]struct {
		plan nemesis.Fault
		want string
	}{
		"cut":     {forGood(&nemesis.Partition{Links: toNode(1)}, 3*ms), "timeout at 15ms, done at 17ms"},
		"reset":   {fault(&nemesis.Reset{Links: toNode(1)}, 3*ms, 10*ms), "lost at 7ms, done at 9ms"},
		"refused": {crash(2, 3*ms, time.Second), "no leader at 7ms, done at 9ms"},
		"crashed": {crash(2, 5*ms+ms/2, time.Second), "lost at 7ms, done at 9ms"},
		"dark":    {fault(&nemesis.PowerLoss{Node: 2}, 3*ms, time.Second), "timeout at 15ms, done at 17ms"},
		"stopped": {fault(&nemesis.NodePause{Node: 2}, 3*ms, time.Second), "timeout at 15ms, done at 17ms"},
		"errors":  {fault(&nemesis.NodeError{Nodes: []int{2}, Error: nemesis.Loading}, 3*ms, time.Second), "no leader at 7ms, done at 9ms"},
		"slow":    {fault(&nemesis.Latency{Links: toNode(1), Add: always(20 * ms)}, 3*ms, time.Second), "timeout at 15ms, done at 17ms"},
		"lossy":   {fault(&nemesis.Loss{Links: toNode(1), Percent: 100}, 3*ms, 300*ms), "timeout at 15ms, done at 17ms"},
	} {
		play(t, stored(1, 3, c.plan), func(w *World) {
			u := user{w, 1}
			if strings.Contains("refused crashed dark stopped errors", name) {
				u.connect(2)
			}
			expect(t, name+": before", u.ask(list, time.Second), "done at 2ms")
			sleep(w, 1, 3*ms)
			got := u.ask(list, 10*ms) + ", " + u.ask(list, 10*ms)
			expect(t, name, got, c.want)
		})
	}
}

// A client has one connection: when it leaves a node, whatever it has still asked
// there is lost to it. A wait that was long enough is no reason to leave.
func TestWhoLeavesANodeLeavesAllThere(t *testing.T) {
	cut := fault(&nemesis.Partition{Links: toNode(1)}, 10*ms, time.Second)
	play(t, stored(1, 3, cut), func(w *World) {
		u := user{w, 1}
		u.ask(create("k", "v"), time.Second)
		await := env.StoreRequest{Op: env.StoreAwait, Key: "k", Revision: 1}
		expect(t, "short", u.ask(await, 4*ms), "timeout at 8ms")
		waiter := w.Runtime(1).Go("waiter", func() {
			expect(t, "wait", u.ask(await, time.Second), "lost at 30ms")
			expect(t, "again", u.ask(await, time.Second), "done at 47ms")
		})
		until(w, 1, 20*ms)
		expect(t, "list", u.ask(list, 10*ms), "timeout at 30ms")
		until(w, 1, 43*ms)
		expect(t, "delete", u.ask(remove("k"), time.Second), "done at 47ms")
		if err := waiter.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A connection that is reset while the store has the request is lost at once.
func TestResetWhileTheStoreReplicates(t *testing.T) {
	reset := fault(&nemesis.Reset{Links: toNode(1)}, 5*ms, ms/2)
	play(t, stored(1, 3, reset), func(w *World) {
		u := user{w, 1}
		sleep(w, 1, 3*ms)
		expect(t, "create", u.ask(create("k", "v"), time.Second), "lost at 6ms")
		expect(t, "after", u.ask(list, time.Second), "k@1=v at 8ms")
	})
}

// A client that stands still gives nothing up; one that is killed has asked what
// it has asked; a call that is cancelled ends at once.
func TestStoreAndStoppedClients(t *testing.T) {
	pause := fault(&nemesis.Pause{Client: 1}, ms, 50*ms)
	play(t, stored(1, 3, pause), func(w *World) {
		expect(t, "replies first", user{w, 1}.ask(create("k", "v"), 10*ms), "k@1=v at 51ms")
	})
	play(t, stored(1, 3, timersFirst(nemesis.At(ms), 50*ms)), func(w *World) {
		expect(t, "timers first", user{w, 1}.ask(create("k", "v"), 10*ms), "timeout at 51ms")
	})
	kill := forGood(&nemesis.Kill{Client: 1}, ms/2)
	play(t, stored(2, 3, kill), func(w *World) {
		user{w, 1}.ask(create("k", "v"), time.Second)
		t.Error("the dead live")
	}, func(w *World) {
		sleep(w, 2, 10*ms)
		expect(t, "the will of the dead", user{w, 2}.ask(list, time.Second), "k@1=v at 12ms")
	})
	play(t, stored(1, 3, cancel(2*ms)), func(w *World) {
		ctx, returned := w.Call(context.Background(), 1)
		_, err := w.Store(1).Ask(ctx, create("k", "v"), env.Never)
		if !errors.Is(err, context.Canceled) || w.now != int64(2*ms) {
			t.Errorf("%v at %v", err, w.time())
		}
		_, err = w.Store(1).Ask(ctx, create("l", "v"), env.Never)
		if !errors.Is(err, context.Canceled) || w.now != int64(2*ms) {
			t.Errorf("again: %v at %v", err, w.time())
		}
		returned()
		expect(t, "what was asked", user{w, 1}.ask(list, time.Second), "k@1=v at 4ms")
	})
}

// On a narrow link a request takes as long as its bytes do.
func TestRequestsToTheStoreHaveASize(t *testing.T) {
	narrow := forGood(&nemesis.Bandwidth{Links: toNode(1), BytesPerSecond: 1000}, 0)
	play(t, stored(1, 1, narrow), func(w *World) {
		// 16 + 40 + 4 bytes there, 16 + 24 + 4 back.
		expect(t, "create", user{w, 1}.ask(create("key", "v"), time.Second), "key@1=v at 108ms")
	})
}

// A client that asks for what there is not is a client with a bug.
func TestStoreRefusesNonsense(t *testing.T) {
	_, err := tryPlay(stored(1, 1), func(w *World) { user{w, 1}.ask(env.StoreRequest{}, time.Second) })
	if err == nil || !strings.Contains(err.Error(), errAsk.Error()) {
		t.Errorf("got %v", err)
	}
}

// A run of any length must not grow by what clients gave up waiting for, nor by
// sessions, keys with a delay, or changes that were replicated long ago.
func TestStoreForgets(t *testing.T) {
	cut := forGood(&nemesis.Partition{Links: toNode(2), Way: nemesis.Replies}, 0)
	s := asynchronous(2, 3, cut)
	s.Horizon = time.Hour
	var w *World
	play(t, s, func(world *World) {
		w = world
		u := user{w, 1}
		u.ask(create("kept", ""), time.Second)
		for i := range 2000 {
			u.connect(1 + i%2)
			opened, _ := u.try(env.StoreRequest{Op: env.StoreOpen, TTL: 10 * ms}, 5*ms)
			u.connect(1 + i%2)
			entry := ephemeral("k", opened.Session)
			entry.Delay = 10 * ms
			u.try(entry, 5*ms)
			u.connect(1 + i%2)
			u.try(env.StoreRequest{Op: env.StoreAwait, Key: "kept", Revision: 1}, 5*ms)
			sleep(w, 1, 50*ms)
		}
	}, func(*World) {})
	r := w.store
	for what, n := range map[string]int{
		"requests": len(r.held), "asked": len(w.clients[0].storeRounds), "sessions": len(r.machine.sessions), "bars": len(r.machine.lockDelays),
		"entries": len(r.machine.entries), "log": len(r.replicas[0].log), "messages": len(w.network.messages.all), "delayed": len(w.delayed.all),
	} {
		if n > 10 {
			t.Errorf("%d %s are left", n, what)
		}
	}
}
