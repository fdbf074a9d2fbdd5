//go:build linux

package stores

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
)

// begins and ends are the client's steps at which the fault begins and ends.
const (
	begins = env.StepBeforeWrite
	ends   = env.StepAfterWrite
)

// isolatedTTL is that of keys in stores in which every key expires.
const isolatedTTL = time.Hour

// isolation is a script of a client whose store's leader is cut off from the other members meanwhile.
// The client repeats each request until it gets a reply, at whatever member.
type isolation struct {
	world    storeWorld
	reach    func(client int, step env.Step, k int)
	expiring bool
}

// reachableWorld is a world with a store whose faults begin at steps.
type reachableWorld interface {
	storeWorld
	Reach(client int, step env.Step, k int)
}

// play plays the script, and returns the keys after each step.
func (s isolation) play() (keys []string) {
	see := func(when string) { keys = append(keys, when+": "+s.keys()) }
	s.create("k0")
	see("before")
	s.reach(1, begins, 0)
	s.create("k1")
	see("while the leader is cut off")
	s.create("k1") // nobody else got it
	s.insist(env.StoreRequest{Op: env.StoreDelete, Key: "script/k0"})
	see("and after a deletion")
	s.reach(1, ends, 0)
	s.create("k2")
	see("when it is back")
	return keys
}

func (s isolation) create(key string) {
	r := env.StoreRequest{Op: env.StoreCreate, Key: "script/" + key, Value: key}
	if s.expiring {
		r.TTL, r.Expires = isolatedTTL, true
	}
	s.insist(r)
}

func (s isolation) keys() string {
	var keys []string
	for _, e := range s.insist(env.StoreRequest{Op: env.StoreList, Key: "script/"}).Entries {
		keys = append(keys, strings.TrimPrefix(e.Key, "script/"))
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// insist repeats a request until it gets a reply. The run ends if it never does.
func (s isolation) insist(r env.StoreRequest) env.StoreReply {
	runtime := s.world.Runtime(1)
	for {
		reply, err := s.world.Store(1).Ask(context.Background(), r, runtime.Now(env.Monotonic).Add(time.Second))
		if err == nil {
			return reply
		}
		_ = runtime.Sleep(context.Background(), runtime.Now(env.Monotonic).Add(10*ms))
	}
}

// played has client 1 play the script, and returns the keys that it has seen.
func played(t *testing.T, w reachableWorld, product string) (keys []string) {
	t.Helper()
	err := w.Run(t.Context(), func(client int) {
		if client == 1 {
			keys = isolation{w, w.Reach, storeAbilities[product].expiring}.play()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Law: while the leader of a store is cut off from the other members, a client that is connected to it
// gets on, in the simulated store as in each real one, and afterwards everything that it has done is
// there.
func TestStoresLoseTheirLeaderAsTheSimulatedOne(t *testing.T) {
	over := nemesis.When(1, ends, 0)
	s := storeSetting(3)
	s.Plan = nemesis.Plan{{Action: &nemesis.PeerPartition{Nodes: []int{1}}, Start: nemesis.When(1, begins, 0), End: &over}}
	for _, p := range Products() {
		if !slices.Contains(p.Ability().Kinds, (*nemesis.PeerPartition)(nil).Kind()) {
			continue
		}
		t.Run(p.Product, func(t *testing.T) {
			simulated, err := sim.Open(t.Context(), s, 1, new(history.Log))
			if err != nil {
				t.Fatal(err)
			}
			want := played(t, simulated, p.Product)
			members, err := p.Open(t.Context(), s, 1, new(history.Log))
			if err != nil {
				t.Fatal(err)
			}
			defer closeStore(t, members)
			got := played(t, members, p.Product)
			if !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("the simulated store: %q\nthe real one:        %q", want, got)
			}
		})
	}
}
