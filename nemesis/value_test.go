package nemesis_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: each value that a fault is said to have is one of its own, so that a change of
// it shows in the fault, and in no plan that this one is a copy of.
func TestValuesAreThoseOfTheFault(t *testing.T) {
	world := setting()
	world.Replication = &nemesis.Distribution{Range: nemesis.Range{Max: ms}}
	seen := map[string]bool{}
	for seed := range uint64(200) { // not drawn, because what is seen follows from the seeds
		plan := nemesis.Generator{Most: 5}.Plan(world, time.Second, nemesis.Stream(seed, "plan"))
		if !plan.Disjoint(world) {
			t.Fatalf("seed %d: the plan holds a target twice", seed)
		}
		before := text(t, plan)
		for i := range plan {
			for n := range valuesOf(&plan[i]) {
				changed := plan.Clone()
				name := change(valuesOf(&changed[i])[n])
				seen[fmt.Sprintf("%s.%s", plan[i].Action.Kind(), name)] = true
				if text(t, changed) == before {
					t.Fatalf("seed %d: another %s is the same fault: %v", seed, name, plan[i])
				}
			}
		}
		if text(t, plan) != before {
			t.Fatalf("seed %d: changes of copies changed the plan itself: %v", seed, plan)
		}
	}
	for _, want := range []string{"crash.node", "crash.after", "partition.nodes", "partition.clients", "clock-jump.by", "clock-rate.ppm", "latency.max", "loss.percent", "pause.client", "kill.plus", "split.nodes"} {
		if !seen[want] {
			t.Errorf("no fault had a %s", want)
		}
	}
}

type value struct {
	name string
	of   any
}

func valuesOf(f *nemesis.Fault) (all []value) {
	f.EachValue(func(name string, of any) { all = append(all, value{name, of}) })
	return all
}

func change(v value) string {
	switch p := v.of.(type) {
	case *int:
		*p += 1000
	case *int64:
		*p += 1000
	case *float64:
		*p += 1000
	case *time.Duration:
		*p += 1000
	case *[]int:
		*p = append(slices.Clone(*p), 1000)
	case *[]time.Duration:
		*p = append(slices.Clone(*p), 1000)
	}
	return v.name
}

func text(t testing.TB, p nemesis.Plan) string {
	b, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Law: a number in a fault that is called node or client, or a list that is called
// nodes or clients, says who is meant; no other number does.
func TestNumbersOfNodesAndClientsAreCalledThat(t *testing.T) {
	others := []string{"k", "count", "percent"}
	for _, a := range nemesis.Actions() {
		f := nemesis.Fault{Action: reflect.New(reflect.TypeOf(a).Elem()).Interface().(nemesis.Action), End: &nemesis.Trigger{}}
		for _, v := range valuesOf(&f) {
			switch v.of.(type) {
			case *int:
				if v.name != "node" && v.name != "client" && !slices.Contains(others, v.name) {
					t.Errorf("%s has a number %q: whose?", a.Kind(), v.name)
				}
			case *[]int:
				if v.name != "nodes" && v.name != "clients" {
					t.Errorf("%s has a list %q: of whom?", a.Kind(), v.name)
				}
			}
		}
	}
}
