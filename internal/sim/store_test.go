package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

func always(d time.Duration) nemesis.Distribution {
	return nemesis.Distribution{Range: nemesis.Range{Min: d, Max: d}}
}

// stored is a small world whose nodes replicate a store, in 2 ms each change. It
// takes them 20 ms to elect another leader.
func stored(clients, nodes int, plan ...nemesis.Fault) nemesis.Setting {
	s := setting(clients, nodes, plan...)
	s.Store = &nemesis.Store{Election: always(20 * ms), Commit: always(2 * ms)}
	return s
}

// user is a client of the store that prints the replies in short form.
type user struct {
	world *World
	id    int
}

func (u user) now() env.Instant { return u.world.Runtime(u.id).Now(env.Monotonic) }

func (u user) try(r env.StoreRequest, wait time.Duration) (env.StoreReply, error) {
	return u.world.Store(u.id).Ask(context.Background(), r, u.now().Add(wait))
}

// ask returns the reply and its time, as in "k@1=v at 4ms".
func (u user) ask(r env.StoreRequest, wait time.Duration) string {
	reply, err := u.try(r, wait)
	return inShort(reply, err) + " at " + u.world.time().String()
}

// connect connects the client to another node.
func (u user) connect(node int) { u.world.clients[u.id-1].connected = node }

func inShort(reply env.StoreReply, err error) string {
	var list []string
	for _, e := range reply.Entries {
		list = append(list, fmt.Sprintf("%s@%d=%s", e.Key, e.Revision, e.Value))
	}
	what := strings.Join(list, " ")
	switch {
	case errors.Is(err, env.ErrTimeout):
		return "timeout"
	case errors.Is(err, env.ErrStoreLost):
		return "lost"
	case errors.Is(err, env.ErrNoLeader):
		return "no leader"
	case err != nil:
		return err.Error()
	case !reply.Done:
		return strings.TrimSpace("declined " + what)
	case reply.Session != 0:
		return fmt.Sprintf("session %d", reply.Session)
	case what == "":
		return "done"
	}
	return what
}

func (u user) open(t *testing.T, ttl time.Duration) uint64 {
	t.Helper()
	reply, err := u.try(env.StoreRequest{Op: env.StoreOpen, TTL: ttl}, time.Second)
	if err != nil || !reply.Done {
		t.Fatalf("open: %+v, %v", reply, err)
	}
	return reply.Session
}

func create(key, value string) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Value: value}
}

func remove(key string) env.StoreRequest { return env.StoreRequest{Op: env.StoreDelete, Key: key} }

var list = env.StoreRequest{Op: env.StoreList}

// A change takes its way there and back and its replication, and a read no more
// than its way.
func TestStoreKeepsEntries(t *testing.T) {
	log := play(t, stored(1, 3), func(w *World) {
		u := user{w, 1}
		expect(t, "create", u.ask(create("k", "v"), time.Second), "k@1=v at 4ms")
		expect(t, "again", u.ask(create("k", "w"), time.Second), "declined k@1=v at 8ms")
		sequential := create("k", "s")
		sequential.Sequential = true
		expect(t, "sequential", u.ask(sequential, time.Second), "k0000000002@2=s at 12ms")
		expect(t, "other", u.ask(create("other", ""), time.Second), "other@3= at 16ms")
		expect(t, "list", u.ask(env.StoreRequest{Op: env.StoreList, Key: "k"}, time.Second), "k@1=v k0000000002@2=s at 18ms")
		expect(t, "delete another", u.ask(env.StoreRequest{Op: env.StoreDelete, Key: "k", Revision: 2}, time.Second), "declined at 22ms")
		expect(t, "delete", u.ask(env.StoreRequest{Op: env.StoreDelete, Key: "k", Revision: 1}, time.Second), "done at 26ms")
		expect(t, "nothing", u.ask(remove("k"), time.Second), "declined at 30ms")
		expect(t, "rest", u.ask(list, time.Second), "k0000000002@2=s other@3= at 32ms")
	})
	expect(t, "leaders", kinds(log), "leader@0s end@32ms")
}

func leaders(log history.Log) string {
	var list []string
	for _, e := range log {
		if e.Kind == history.Leader {
			list = append(list, fmt.Sprintf("%d@%v", e.Node, e.Time))
		}
	}
	return strings.Join(list, " ")
}

// forGood is a fault that does not end.
func forGood(a nemesis.Action, start time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: a, Start: nemesis.At(start)}
}

// ephemeral is an entry of a session.
func ephemeral(key string, session uint64) env.StoreRequest {
	return env.StoreRequest{Op: env.StoreCreate, Key: key, Session: session}
}

// goneAt plays a client that opens a session of 100 ms at the leader, which it reaches at 1 ms,
// creates an entry, and then keeps the session alive at the given times. It returns the reply to
// another client that waits for the end of the entry: 3 ms later, for the replication and the way.
func goneAt(t *testing.T, s nemesis.Setting, keeps ...time.Duration) (told string) {
	t.Helper()
	play(t, s, func(w *World) {
		u := user{w, 1}
		session := u.open(t, 100*ms)
		u.ask(ephemeral("k", session), time.Second)
		for _, at := range keeps {
			until(w, 1, at)
			u.ask(env.StoreRequest{Op: env.StoreKeep, Session: session}, time.Second)
		}
	}, func(w *World) {
		u := user{w, 2}
		sleep(w, 2, 20*ms)
		for told = "lost"; told[:4] == "lost" || told[:2] == "no"; {
			told = u.ask(env.StoreRequest{Op: env.StoreAwait, Key: "k", Revision: 2}, 5*time.Second)
		}
	})
	return told
}

// A session ends when its TTL has passed since its last request at the leader, by the leader's
// monotonic clock, which has no jumps.
func TestSessionEndsByTheLeadersMonotonicClock(t *testing.T) {
	leaders := nemesis.Machine{Node: 1}
	for name, c := range map[string]struct {
		plan  nemesis.Plan
		keeps []time.Duration
		want  string
	}{
		"not kept":      {nil, nil, "done at 104ms"},
		"kept":          {nil, []time.Duration{50 * ms}, "done at 154ms"},
		"kept for long": {nil, []time.Duration{50 * ms, 140 * ms, 239 * ms}, "done at 343ms"},
		"kept too late": {nil, []time.Duration{100 * ms}, "done at 104ms"},
		"jump":          {nemesis.Plan{forGood(&nemesis.ClockJump{Machine: leaders, By: time.Hour}, 10*ms)}, nil, "done at 104ms"},
		"freeze":        {nemesis.Plan{forGood(&nemesis.ClockFreeze{Machine: leaders}, 10*ms)}, nil, "done at 104ms"},
		"fast":          {nemesis.Plan{fault(&nemesis.ClockRate{Machine: leaders, PPM: 250_000}, 51*ms, time.Second)}, nil, "done at 94ms"},
		"slow":          {nemesis.Plan{fault(&nemesis.ClockRate{Machine: leaders, PPM: -500_000}, 51*ms, time.Second)}, nil, "done at 154ms"},
		"slow a while":  {nemesis.Plan{fault(&nemesis.ClockRate{Machine: leaders, PPM: -500_000}, 51*ms, 20*ms)}, nil, "done at 114ms"},
		"slewed":        {nemesis.Plan{forGood(&nemesis.ClockSlew{Machine: leaders, By: 5 * ms, PPM: 100_000}, 41*ms)}, nil, "done at 99ms"},
		"another's":     {nemesis.Plan{fault(&nemesis.ClockRate{Machine: nemesis.Machine{Node: 2}, PPM: 600_000}, 51*ms, time.Second)}, nil, "done at 104ms"},
	} {
		s := stored(2, 3, c.plan...)
		if err := s.Validate(); err != nil {
			t.Fatal(name, err)
		}
		expect(t, name, goneAt(t, s, c.keeps...), c.want)
	}
}

// A new leader, who leads at 80 ms, counts from then on, by its own clock.
func TestNewLeaderCountsAnew(t *testing.T) {
	crash := fault(&nemesis.Crash{Node: 1}, 60*ms, time.Second)
	expect(t, "its clock", goneAt(t, stored(2, 3, crash)), "done at 183ms")
	expect(t, "cut off", goneAt(t, stored(2, 3, isolate(60*ms, time.Second, 1))), "done at 183ms")
	fast := fault(&nemesis.ClockRate{Machine: nemesis.Machine{Node: 2}, PPM: 600_000}, 0, time.Second)
	expect(t, "fast", goneAt(t, stored(2, 3, crash, fast)), "done at 145.5ms")
	expect(t, "kept", goneAt(t, stored(2, 3, crash), 120*ms, 130*ms), "done at 234ms")
}

func TestSessionThatIsOver(t *testing.T) {
	play(t, stored(1, 1), func(w *World) {
		u := user{w, 1}
		session := u.open(t, 50*ms) // at 4 ms
		expect(t, "create", u.ask(ephemeral("k", session), time.Second), "k@2= at 8ms")
		sleep(w, 1, 100*ms)
		expect(t, "keep", u.ask(env.StoreRequest{Op: env.StoreKeep, Session: session}, time.Second), "declined at 112ms")
		expect(t, "create later", u.ask(ephemeral("k", session), time.Second), "declined at 116ms")
		expect(t, "close", u.ask(env.StoreRequest{Op: env.StoreClose, Session: session}, time.Second), "declined at 120ms")
		expect(t, "list", u.ask(list, time.Second), "done at 122ms")
		expect(t, "another session", u.ask(env.StoreRequest{Op: env.StoreOpen, TTL: 50 * ms}, time.Second), "session 4 at 126ms")
	})
}

// A lock-delay bars the key of an entry whose session has ended by time; one that
// was closed bars nothing. A new leader counts it anew.
func TestLockDelay(t *testing.T) {
	fast := nemesis.ClockRate{Machine: nemesis.Machine{Node: 1}, PPM: 600_000}
	for name, c := range map[string]struct {
		plan  nemesis.Plan
		close bool
		free  time.Duration // when the key can be created again
	}{
		"ended by time": {nil, false, 131 * ms}, // over at 51 ms
		"closed":        {nil, true, 9 * ms},
		"fast clock":    {nemesis.Plan{fault(&fast, 91*ms, time.Second)}, false, 116 * ms},
		"new leader":    {nemesis.Plan{fault(&nemesis.Crash{Node: 1}, 100*ms, time.Second)}, false, 200 * ms}, // at 120 ms
	} {
		play(t, stored(2, 3, c.plan...), func(w *World) {
			u := user{w, 1}
			session := u.open(t, 50*ms)
			entry := ephemeral("k", session)
			entry.Delay = 80 * ms
			u.ask(entry, time.Second)
			if c.close {
				u.ask(env.StoreRequest{Op: env.StoreClose, Session: session}, time.Second)
			}
		}, func(w *World) {
			u := user{w, 2}
			until(w, 2, c.free-2*ms)
			early := w.Runtime(2).Go("too early", func() {
				reply, err := u.try(create("k", ""), time.Second)
				if err != nil || reply.Done || c.close != (len(reply.Entries) > 0) {
					t.Errorf("%s: too early: %+v, %v", name, reply, err)
				}
			})
			sleep(w, 2, ms)
			reply, err := u.try(create("k", ""), time.Second)
			if err != nil || !reply.Done {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
			if err := early.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// until lets a client sleep until an instant of its clock.
func until(w *World, client int, at time.Duration) {
	_ = w.Runtime(client).Sleep(context.Background(), env.Instant(at))
}
