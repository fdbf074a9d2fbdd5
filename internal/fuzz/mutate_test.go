package fuzz

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Laws of thousands of successive mutations: each is inside the assumptions, has compatible
// faults, and can be run; and its parent is unchanged.
func TestChangesAreCandidates(t *testing.T) {
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	row.Replication = &nemesis.Distribution{Range: nemesis.Range{Max: time.Millisecond}}
	assumed := promises.Assumptions{Without: []nemesis.Kind{"evict", "clock-jump", "crash"}}
	h := Hunt{Backend: simulated.Backend(), Space: SpaceAround(row), Terms: promises.Under(assumed), MaxFaults: 5}
	random := rand.New(rand.NewPCG(1, 2))
	kinds := map[nemesis.Kind]int{}
	changed := 0
	for range 20 {
		first, err := h.draw(random)
		if err != nil {
			t.Fatal(err)
		}
		c := first
		for range 100 {
			before := copied(c)
			next, _, ok := h.mutate(c, random)
			if !ok {
				continue
			}
			changed++
			s := next.Scenario
			if err := assumed.Outside(s); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(); err != nil || !s.Plan.Disjoint(s.World()) || len(s.Plan) > h.MaxFaults || len(s.Plan) == 0 {
				t.Fatalf("%v: %v", err, s.Plan)
			}
			if !reflect.DeepEqual(before, c) {
				t.Fatal("the parent is not what it was")
			}
			if reflect.DeepEqual(next, c) {
				t.Errorf("no change: %v", s.Plan)
			}
			for _, f := range s.Plan {
				kinds[f.Action.Kind()]++
			}
			if changed%10 == 0 { // the whole way to the end takes time
				if _, err := next.Run(t.Context(), h.Backend, nil); err != nil {
					t.Fatalf("%v: %v", s.Plan, err)
				}
			}
			c = next
		}
	}
	if changed < 1950 {
		t.Errorf("%d of 2000 changes were possible", changed)
	}
	const needStore = 1 // kind: peer-partition
	if all, _ := nemesis.Kinds(); len(kinds) != len(all)-len(assumed.Without)-needStore {
		t.Errorf("%d kinds of faults: %v", len(kinds), kinds)
	}
}

// Each kind of mutation eventually changes something.
func TestEachChangeChangesSomething(t *testing.T) {
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	h := Hunt{Backend: simulated.Backend(), Space: varied{row}, Terms: promises.Unconditional, MaxFaults: 5}
	random := rand.New(rand.NewPCG(1, 2))
	for i, change := range mutations {
		shows := slices.ContainsFunc(make([]struct{}, 50), func(struct{}) bool {
			c, err := h.draw(random)
			if err != nil {
				t.Fatal(err)
			}
			m := mutation{hunt: h, random: random, Candidate: copied(c)}
			return change.make(&m) && !reflect.DeepEqual(m.Candidate, c)
		})
		if !shows {
			t.Errorf("change %d never changed anything", i)
		}
	}
}

// varied is a search space whose locks differ.
type varied struct{ scenarios.Scenario }

func (v varied) Name() string { return v.Scenario.Name }

func (v varied) Draw(random *rand.Rand) scenarios.Scenario {
	s := SpaceAround(v.Scenario).Draw(random)
	s.Lock.TTL = time.Second + time.Millisecond*time.Duration(random.IntN(100))
	return s
}

// copied returns a candidate that shares no memory.
func copied(c Candidate) Candidate {
	c.Scenario.Plan, c.Scenario.Clients = c.Scenario.Plan.Clone(), slices.Clone(c.Scenario.Clients)
	return c
}
