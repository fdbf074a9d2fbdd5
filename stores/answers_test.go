//go:build linux

package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

const (
	ms       = time.Millisecond
	patience = 2 * time.Minute // for every request to a real server
)

// storeStep is a request of one of two clients. Sessions and revisions are those that
// earlier steps of the script got.
type storeStep struct {
	client   int
	op       env.StoreOp
	key      int  // of a few
	session  int  // the step that opened it, from 1; 0: none
	entry    int  // the step that created the entry whose revision is meant, from 1; 0: any
	wrong    bool // another revision is meant
	sequence bool
	expires  bool // by itself
}

// storeAbility says which requests a product can carry out.
type storeAbility struct {
	sessions, sequential, rows, expiring bool
	connections                          bool // its sessions are connections
	kept                                 bool // its entries have no time to live, and nobody deletes them
	members                              int  // how many it needs; 0: three
}

var storeAbilities = map[string]storeAbility{
	"etcd":       {sessions: true},
	"zookeeper":  {sessions: true, sequential: true},
	"postgresql": {rows: true, sessions: true, connections: true},

	"redis-sentinel": {expiring: true},
	"redis-cluster":  {expiring: true, members: 5},
}

// storeTTL is that of sessions. It is much longer than a script takes on a slow machine.
const storeTTL = 10 * time.Minute

// drawStoreScript draws a script of requests that the product can carry out.
func drawStoreScript(random *rand.Rand, can storeAbility, steps int) (script []storeStep) {
	var sessions, entries []int // the steps that opened or created them
	some := func(list []int) int {
		if len(list) == 0 {
			return 0
		}
		return list[random.IntN(len(list))]
	}
	for len(script) < steps {
		s := storeStep{client: 1 + random.IntN(2), key: random.IntN(3)}
		switch n := random.IntN(12); {
		case can.sessions && n == 0:
			s.op = env.StoreOpen
			sessions = append(sessions, len(script)+1)
		case can.sessions && n == 1:
			s.op, s.session = env.StoreKeep, some(sessions)
		case can.sessions && n == 2 && len(script) > steps/2:
			s.op, s.session = env.StoreClose, some(sessions)
		case n <= 5:
			s.op, s.session, s.sequence = env.StoreCreate, some(sessions), can.sequential && random.IntN(2) == 0
			s.expires = can.expiring
			entries = append(entries, len(script)+1)
		case can.kept && n <= 7:
			s.op = env.StoreList
		case n <= 7:
			s.op, s.entry, s.wrong = env.StoreDelete, some(entries), random.IntN(4) == 0
			if can.connections && s.entry != 0 {
				s.session = script[s.entry-1].session
			}
		case n >= 10:
			s.op, s.entry, s.wrong = env.StoreUpdate, some(entries), random.IntN(4) == 0
			if can.connections && s.entry != 0 && script[s.entry-1].session != 0 {
				continue // the lock of a connection has no value
			}
		case can.rows && n == 8:
			s.op = env.StoreSweep
		case can.expiring && n >= 8:
			s.op, s.entry, s.wrong = env.StoreRenew, some(entries), random.IntN(4) == 0
		default:
			s.op = env.StoreList
		}
		if can.connections && s.op == env.StoreCreate && random.IntN(2) == 0 {
			s.session = 0 // a row
		}
		if can.sessions && s.session == 0 && !(can.rows && s.op == env.StoreCreate) && slices.Contains([]env.StoreOp{env.StoreKeep, env.StoreClose, env.StoreCreate}, s.op) {
			continue // there is no session yet
		}
		if s.session != 0 {
			s.client = script[s.session-1].client
		}
		script = append(script, s)
	}
	return script
}

// playStore runs a script in a world's store, under keys of its own, and returns the replies.
// Revisions and sessions are replaced by the step that got them, because their numbers are the
// store's own affair. Their order is not: a larger one is the later one.
func playStore(script []storeStep, can storeAbility, prefix string, stores func(client int) env.Store, until func(client int) env.Instant) []string {
	var said []string
	opened := map[int]uint64{}
	created := map[int]env.Entry{}
	names := map[uint64]string{0: "-"}
	over := map[int]bool{} // sessions
	last := uint64(0)
	for i, s := range script {
		r := env.StoreRequest{Op: s.op, Key: fmt.Sprintf("%s/k%d", prefix, s.key), Session: opened[s.session]}
		if can.connections && (s.session != 0 || s.op == env.StoreOpen) {
			r.Kind = env.SessionConnection
		}
		switch s.op {
		case env.StoreOpen:
			r = env.StoreRequest{Op: s.op, TTL: storeTTL, Kind: r.Kind}
		case env.StoreCreate:
			r.Value, r.Sequential = fmt.Sprintf("v%d", i+1), s.sequence
			if s.session == 0 && !can.kept {
				r.TTL, r.Expires = time.Hour, s.expires
			}
		case env.StoreDelete, env.StoreRenew, env.StoreUpdate:
			if s.op == env.StoreRenew {
				r.TTL = time.Hour
			}
			if s.op == env.StoreUpdate {
				r.Value = fmt.Sprintf("v%d", i+1)
			}
			if e, ok := created[s.entry]; ok {
				r.Key, r.Revision = e.Key, e.Revision
			}
			if s.wrong {
				r.Revision += 1 << 40
			}
		case env.StoreSweep, env.StoreList:
			r.Key = prefix + "/"
		}
		reply, err := stores(s.client).Ask(context.Background(), r, until(s.client))
		if err != nil {
			said = append(said, fmt.Sprintf("%v: %v", s.op, err))
			continue
		}
		if s.op == env.StoreClose {
			over[s.session] = true
		}
		if s.op == env.StoreCreate && over[s.session] {
			reply.Entries = nil // whether it is there, no store needs to say
		}
		if r.Kind == env.SessionConnection && s.op == env.StoreCreate && len(reply.Entries) > 0 && !reply.Done {
			reply.Entries = []env.Entry{{Key: r.Key}} // whose it is, nobody needs to say
		}
		if s.op == env.StoreOpen {
			opened[i+1] = reply.Session
			names[reply.Session] = fmt.Sprintf("s%d", i+1)
		}
		text := fmt.Sprintf("%v: %t", s.op, reply.Done)
		if slices.Contains([]env.StoreOp{env.StoreCreate, env.StoreRenew, env.StoreUpdate}, s.op) && reply.Done {
			e := reply.Entries[0]
			step := i + 1
			if s.op != env.StoreCreate {
				step = s.entry
			}
			created[step] = e
			if e.Revision <= last && r.Kind == env.SessionLease {
				text += " with an earlier revision than that of the last entry"
			}
			last = max(last, e.Revision)
		}
		for _, e := range reply.Entries {
			key := e.Key
			if k := strings.LastIndex(key, "/k"); k >= 0 {
				key = key[k+1 : k+3] // without a sequence number
			}
			text += fmt.Sprintf(" %s=%s of %s", key, e.Value, names[e.Session])
		}
		said = append(said, text)
	}
	return said
}

func storeSetting(members int) nemesis.Setting {
	quick := nemesis.Distribution{Range: nemesis.Range{Min: ms, Max: 2 * ms}}
	return nemesis.Setting{
		Nodes: members, Clients: 2, Persistence: nemesis.Always, Guard: guard.Plain, Horizon: 4 * patience,
		Store: &nemesis.Store{Election: quick, Commit: quick},
	}
}

// storeWorld is a world with a store.
type storeWorld interface {
	Store(client int) env.Store
	Runtime(client int) env.Runtime
	Run(ctx context.Context, main func(client int)) error
}

// playStores runs scripts in a world and returns the replies of each. Client 1 acts for both.
func playStores(t *testing.T, w storeWorld, can storeAbility, scripts [][]storeStep) (said [][]string) {
	t.Helper()
	err := w.Run(t.Context(), func(client int) {
		if client != 1 {
			return
		}
		for i, s := range scripts {
			said = append(said, playStore(s, can, fmt.Sprintf("script-%d", i), func(int) env.Store { return w.Store(1) }, func(int) env.Instant {
				return w.Runtime(1).Now(env.Monotonic).Add(patience)
			}))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// Law: the simulated store replies as each real one.
func TestStoresAnswerAsTheSimulatedOne(t *testing.T) {
	const number, steps = 20, 30
	for _, p := range Products() {
		t.Run(p.Product, func(t *testing.T) {
			can, ok := storeAbilities[p.Product]
			if !ok {
				t.Fatal("what can it do?")
			}
			random := rand.New(rand.NewPCG(1, 2))
			var scripts [][]storeStep
			for range number {
				scripts = append(scripts, drawStoreScript(random, can, steps))
			}
			s := storeSetting(cmp.Or(can.members, 3))
			simulated, err := sim.Open(t.Context(), s, 1, new(history.Log))
			if err != nil {
				t.Fatal(err)
			}
			want := playStores(t, simulated, can, scripts)
			served, err := p.Open(t.Context(), s, 1, new(history.Log))
			if err != nil {
				t.Fatal(err)
			}
			defer closeStore(t, served)
			got := playStores(t, served, can, scripts)
			for i := range scripts {
				for j := range scripts[i] {
					if got[i][j] != want[i][j] {
						t.Errorf("script %d: the simulated store and the real one differ at step %d:\n%s", i, j+1, sidesOf(scripts[i], want[i], got[i], j))
						break
					}
				}
			}
		})
	}
}

// A client that awaits the end of an entry is answered when another deletes it, and at once if it is gone.
func TestStoresAwait(t *testing.T) {
	for _, p := range Products() {
		t.Run(p.Product, func(t *testing.T) {
			can := storeAbilities[p.Product]
			w, err := p.Open(t.Context(), storeSetting(cmp.Or(can.members, 3)), 1, new(history.Log))
			if err != nil {
				t.Fatal(err)
			}
			defer closeStore(t, w)
			created, waits := make(chan env.Entry, 1), make(chan struct{})
			err = w.Run(t.Context(), func(client int) {
				ask := func(limit time.Duration, r env.StoreRequest) (env.StoreReply, error) {
					return w.Store(client).Ask(context.Background(), r, w.Runtime(client).Now(env.Monotonic).Add(limit))
				}
				done := func(r env.StoreRequest) env.StoreReply {
					reply, err := ask(patience, r)
					for errors.Is(err, env.ErrNoLeader) { // a client may reach a follower first
						_ = w.Runtime(client).Sleep(context.Background(), w.Runtime(client).Now(env.Monotonic).Add(10*ms))
						reply, err = ask(patience, r)
					}
					if err != nil || !reply.Done {
						t.Errorf("%v: %+v, %v", r.Op, reply, err)
					}
					return reply
				}
				if client == 2 {
					defer close(created)
					create := env.StoreRequest{Op: env.StoreCreate, Key: "a/x", Value: "v"}
					if can.expiring {
						create.TTL, create.Expires = time.Hour, true
					}
					if reply := done(create); len(reply.Entries) == 1 {
						created <- reply.Entries[0]
						<-waits
						done(env.StoreRequest{Op: env.StoreDelete, Key: "a/x"})
					}
					return
				}
				e, ok := <-created
				if !ok {
					return
				}
				done(env.StoreRequest{Op: env.StoreList, Key: "a/"})
				await := env.StoreRequest{Op: env.StoreAwait, Key: e.Key, Revision: e.Revision}
				if reply, err := ask(50*ms, await); err == nil {
					t.Errorf("the wait for an entry that is there ended with %+v", reply)
				}
				close(waits)
				done(await)
				done(await)
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A client refuses what its store cannot do. It asks no server.
func TestUnsupportedRequests(t *testing.T) {
	for _, p := range Products() {
		can := storeAbilities[p.Product]
		create := env.StoreRequest{Op: env.StoreCreate, Key: "a"}
		if can.expiring {
			create.TTL, create.Expires = time.Hour, true
		}
		delayed, session, sequential, row := create, create, create, env.StoreRequest{Op: env.StoreCreate, Key: "a", TTL: time.Hour}
		delayed.Delay, session.Session, sequential.Sequential = time.Second, 1, true
		refused := []env.StoreRequest{{}, delayed}
		if !can.sessions || can.connections {
			refused = append(refused, session, env.StoreRequest{Op: env.StoreOpen, TTL: time.Second}, env.StoreRequest{Op: env.StoreKeep, Session: 1}, env.StoreRequest{Op: env.StoreClose, Session: 1})
		}
		if !can.sequential {
			refused = append(refused, sequential)
		}
		if !can.rows {
			refused = append(refused, row, env.StoreRequest{Op: env.StoreSweep, Key: "a"})
		}
		for _, store := range p.Clients {
			c, err := store.Connect([]string{"127.0.0.1:1"}, live.DialServer)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range refused {
				if _, err := c.Do(t.Context(), r); !errors.Is(err, live.ErrStoreOp) {
					t.Errorf("%s: %v %+v: %v", store.Name(), r.Op, r, err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func closeStore(t *testing.T, w *live.World) {
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// sidesOf prints the replies up to a step.
func sidesOf(script []storeStep, simulated, served []string, last int) string {
	text := ""
	for i := range last + 1 {
		text += fmt.Sprintf("%2d %+v\n   sim:  %s\n   real: %s\n", i+1, script[i], simulated[i], served[i])
	}
	return text
}
