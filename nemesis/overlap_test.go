package nemesis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: a plan is valid exactly if each pair of its faults is, and the error names the first fault that
// overlaps one before it, and the first of these.
func TestOverlapIsThatOfSomePair(t *testing.T) {
	var valid, invalid, disjoint int
	for seed := range uint64(3_000) {
		random := rand.New(rand.NewPCG(seed, 31))
		plan := make(nemesis.Plan, 2+random.IntN(7))
		for i := range plan {
			plan[i] = randomFault(random)
		}
		want, apart := pairwise(plan)
		got := ""
		if err := setting(plan...).Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Fatalf("seed %d: %v: %q, want %q", seed, plan, got, want)
		}
		if got == "" && plan.Disjoint(setting(plan...)) != apart {
			t.Fatalf("seed %d: %v: disjoint: %t, want %t", seed, plan, !apart, apart)
		}
		switch {
		case want != "":
			invalid++
		case apart:
			disjoint++
		default:
			valid++
		}
	}
	if valid < 50 || invalid < 50 || disjoint < 50 {
		t.Errorf("%d plans overlap, %d may overlap, %d cannot", invalid, valid, disjoint)
	}
}

// pairwise returns the error of the first pair of faults that overlap, and whether no pair can.
func pairwise(plan nemesis.Plan) (wrong string, apart bool) {
	apart = true
	for i := range plan {
		for j := range i {
			pair := setting(plan[j], plan[i])
			if err := pair.Validate(); err != nil {
				_, what, _ := strings.Cut(err.Error(), "both hold")
				return fmt.Sprintf("plan[%d]: overlaps fault %d: both hold%s", i, j+1, what), false
			}
			apart = apart && pair.Plan.Disjoint(pair)
		}
	}
	return "", apart
}

func randomFault(random *rand.Rand) nemesis.Fault {
	f := nemesis.Fault{}
	switch random.IntN(4) {
	case 0:
		f.Action = &nemesis.Crash{Node: 1 + random.IntN(4)}
	case 1:
		f.Action = &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1 + random.IntN(4)}, By: ms}
	case 2:
		f.Action = &nemesis.Partition{Links: nemesis.Links{Nodes: []int{1 + random.IntN(4)}}}
	default:
		f.Action = &nemesis.Partition{Links: nemesis.Links{Clients: []int{1 + random.IntN(2)}, Nodes: []int{1 + random.IntN(4)}}}
	}
	at := time.Duration(1+random.IntN(20)) * ms
	f.Start = nemesis.At(at)
	if random.IntN(6) == 0 {
		f.Start = nemesis.When(1, env.StepGranted, 0)
	}
	if f.Momentary() {
		return f
	}
	switch random.IntN(7) {
	case 0:
		f.End = until(at)
	case 1, 2:
		f.End = until(at + 4*ms)
	case 3:
		over := nemesis.When(1, env.StepGranted, 0)
		f.End = &over
	case 4:
		f.End = nemesis.After(0)
	case 5:
		f.End = nemesis.After(3 * ms)
	}
	return f
}

// A plan has at most so many faults, so that a scenario from elsewhere cannot keep its reader busy.
func TestLargePlan(t *testing.T) {
	var plan nemesis.Plan
	for i := range nemesis.MaxPlan + 1 {
		plan = append(plan, crash(1, nemesis.At(time.Duration(i)*ms), nemesis.After(ms)))
	}
	if err := setting(plan[:nemesis.MaxPlan]...).Validate(); err != nil {
		t.Error(err)
	}
	const want = "plan: 1001 faults: want at most 1000"
	if err := setting(plan...).Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
