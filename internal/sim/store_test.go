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

// user is a client of the store that says in short what it is told.
type user struct {
	world *World
	id    int
}

func (u user) now() env.Instant { return u.world.Runtime(u.id).Now(env.Monotonic) }

func (u user) try(r env.StoreRequest, wait time.Duration) (env.StoreReply, error) {
	return u.world.Store(u.id).Ask(context.Background(), r, u.now().Add(wait))
}

// ask returns what the client is told, and when, as in "k@1=v at 4ms".
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

func TestWithoutAStoreThereIsNone(t *testing.T) {
	play(t, setting(1, 1), func(w *World) {
		if s := w.Store(1); s != nil {
			t.Errorf("got %v", s)
		}
	})
}

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

// A change whose leader dies before the reply has taken effect, but its client
// cannot know. Until another leads there is none.
func TestLeaderDies(t *testing.T) {
	for name, down := range map[string]nemesis.Action{"crash": &nemesis.Crash{Node: 1}, "pause": &nemesis.NodePause{Node: 1}} {
		log := play(t, stored(2, 3, fault(down, 2*ms, 50*ms)), func(*World) {}, func(w *World) {
			u := user{w, 2}
			expect(t, name, u.ask(create("k", "v"), time.Second), "lost at 3ms")
			expect(t, name+": while nobody leads", u.ask(list, time.Second), "no leader at 5ms")
			sleep(w, 2, 20*ms)
			want := "no leader at 27ms"
			if name == "pause" {
				want = "k@1=v at 53ms" // it waited in its socket
			}
			expect(t, name+": over the node itself", u.ask(list, time.Second), want)
			reply, err := u.try(list, time.Second)
			expect(t, name+": what is left", inShort(reply, err), "k@1=v")
		})
		expect(t, name+": leaders", leaders(log), "1@0s 0@2ms 2@22ms")
	}
}
