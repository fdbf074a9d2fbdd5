package nemesis_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

const ms = time.Millisecond

func setting(plan ...nemesis.Fault) nemesis.Setting {
	return nemesis.Setting{Nodes: 5, Clients: 2, Persistence: nemesis.Nothing, Horizon: time.Second, Plan: plan}
}

func crash(node int, start nemesis.Trigger, end *nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: start, End: end}
}

func until(d time.Duration) *nemesis.Trigger { m := nemesis.At(d); return &m }

func TestImpossiblePlans(t *testing.T) {
	cases := map[string]nemesis.Fault{
		"plan[0].crash.node: there is no node 7":                       crash(7, nemesis.At(0), nil),
		"plan[0].end: 1ms is before the start at 2ms":                  crash(1, nemesis.At(2*ms), until(ms)),
		"plan[0].end.after: -1ms is negative":                          crash(1, nemesis.At(0), nemesis.After(-ms)),
		"plan[0].start.after: only the end":                            crash(1, *nemesis.After(ms), nil),
		"plan[0].start.at: -1ms is negative":                           crash(1, nemesis.At(-ms), nil),
		"plan[0].start.client: there is no client 3":                   crash(1, nemesis.When(3, env.StepGranted, 0), nil),
		"plan[0].start.plus: -1ms":                                     crash(1, nemesis.When(1, env.StepGranted, -ms), nil),
		"plan[0].start.step: missing":                                  crash(1, nemesis.Trigger{Client: 1}, nil),
		"plan[0].start.client: a step needs the client":                crash(1, nemesis.Trigger{Step: "granted"}, nil),
		"plan[0].start.count: -1 is negative":                          crash(1, nemesis.Trigger{Client: 1, Step: "granted", Count: -1}, nil),
		"plan[0].start.at: an instant and a step exclude":              crash(1, nemesis.Trigger{Client: 1, Step: "granted", At: ms}, nil),
		"plan[0].end.after: after stands alone":                        {Action: &nemesis.Crash{Node: 1}, End: &nemesis.Trigger{After: new(time.Duration), Step: "granted"}},
		"plan[0].start.k: only the step":                               crash(1, nemesis.Trigger{Client: 1, Step: "granted", K: 1}, nil),
		"plan[0].start.k: reply 9 of 8":                                crash(1, nemesis.Trigger{Client: 1, Step: "reply", K: 9}, nil),
		"plan[0]: a fault names exactly one kind":                      {Start: nemesis.At(0)},
		"plan[0].partition.nodes[1]: node 2 is named twice":            {Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{2, 2}}}},
		"plan[0].partition.clients[0]: 0: want at least 1":             {Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{0}}}},
		`plan[0].partition.way: unknown value "up"`:                    {Action: &nemesis.Partition{Way: "up"}},
		"plan[0].latency.add.max: 1ms is below min, 2ms":               {Action: &nemesis.Latency{Add: nemesis.Distribution{Range: nemesis.Range{Min: 2 * ms, Max: ms}}}},
		"plan[0].clock-rate.ppm: -1000000":                             {Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: 1}, PPM: -1_000_000}},
		"plan[0].clock-jump.by: a jump by nothing":                     {Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}}},
		"plan[0].clock-jump.client: a node and a client":               {Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1, Client: 1}, By: ms}},
		"plan[0].end: a client that has died":                          {Action: &nemesis.Kill{Client: 1}, End: until(ms)},
		"plan[0].pause.client: 0: want at least 1":                     {Action: &nemesis.Pause{}},
		`plan[0].pause.first: unknown value "clocks": want replies or`: {Action: &nemesis.Pause{Client: 1, First: "clocks"}},
	}
	for want, fault := range cases {
		err := setting(fault).Validate()
		var wrong *nemesis.FieldError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Of two faults at one instant the one that is planned first begins first: if it
// is over at once the other can follow, and not the other way round.
func TestOverlapAtOneInstant(t *testing.T) {
	short, long := crash(1, nemesis.At(ms), nemesis.After(0)), crash(1, nemesis.At(ms), nil)
	if err := setting(short, long).Validate(); err != nil {
		t.Error(err)
	}
	const want = "plan[1]: overlaps fault 1: both hold the server of node 1"
	if err := setting(long, short).Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A backend that can carry out a kind may lack what some faults of it ask for.
func TestRefuseFeature(t *testing.T) {
	pause := func(first nemesis.First) nemesis.Plan {
		return nemesis.Plan{{Action: &nemesis.Pause{Client: 1, First: first}}}
	}
	tin := nemesis.Ability{Name: "tin", Kinds: []nemesis.Kind{"pause"}}
	for _, first := range []nemesis.First{"", nemesis.RepliesFirst} {
		if err := tin.Refuse(pause(first)); err != nil {
			t.Errorf("%q: %v", first, err)
		}
	}
	err := tin.Refuse(pause(nemesis.TimersFirst))
	if err == nil || err.Error() != `the tin backend cannot carry out fault 1 of the plan, a pause with "first: timers"` {
		t.Errorf("got %v", err)
	}
	tin.Features = []nemesis.Feature{nemesis.TimersFirstFeature}
	if err := tin.Refuse(pause(nemesis.TimersFirst)); err != nil {
		t.Error(err)
	}
	tin.Kinds = nil
	if err := tin.Refuse(pause(nemesis.TimersFirst)); err == nil || strings.Contains(err.Error(), "with") {
		t.Errorf("got %v", err)
	}
}

// Each kind tells its own name and has a line of its own.
// Nobody waits for other steps of a client than those at which a fault begins or ends.
func TestStepsOf(t *testing.T) {
	over := nemesis.When(2, env.StepGranted, time.Second)
	p := nemesis.Plan{
		{Action: &nemesis.Pause{Client: 1}, Start: nemesis.When(1, env.StepReply, 0), End: &over},
		{Action: &nemesis.Pause{Client: 2}, Start: nemesis.When(1, env.StepAcquire, 0), End: nemesis.After(time.Second)},
		{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(0)},
	}
	for client, want := range map[int][]env.Step{1: {env.StepAcquire, env.StepReply}, 2: {env.StepGranted}, 3: nil} {
		if got := p.StepsOf(client); !slices.Equal(got, want) {
			t.Errorf("client %d: %v, want %v", client, got, want)
		}
	}
}

// A fault on all nodes is carried out as one on each, where it stands. Mistakes have the number in the plan as it is
// written, and that is what is printed.
func TestFaultOnAllNodes(t *testing.T) {
	on := func(node int) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: node}, By: ms}, Start: nemesis.When(1, env.StepGranted, 0)}
	}
	plan := nemesis.Plan{crash(3, nemesis.At(0), nemesis.After(0)), on(nemesis.AllNodes), crash(1, nemesis.At(ms), nil)}
	want := nemesis.Plan{plan[0], on(1), on(2), on(3), plan[2]}
	if got := plan.EachNode(3); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := want.EachNode(5); &got[0] != &want[0] {
		t.Errorf("a plan without such a fault is copied: %v", got)
	}
	if text, err := yaml.Marshal(plan[1:2]); err != nil || !strings.HasPrefix(string(text), "- clock-jump:\n    node: all\n") || fmt.Sprint(plan[1].Action) != "the wall clock of every node jumps forward by 1ms" {
		t.Errorf("%s, %v, %v", text, plan[1], err)
	}
	all := crash(nemesis.AllNodes, nemesis.At(2*ms), nil)
	for want, plan := range map[string]nemesis.Plan{
		"plan[2]: overlaps fault 2: both hold the server of node 4": {on(nemesis.AllNodes), all, crash(4, nemesis.At(3*ms), nil)},
		"plan[2]: overlaps fault 1: both hold the server of node 4": {crash(4, nemesis.At(ms), nil), on(nemesis.AllNodes), all},
		"plan: 1005 faults: want at most 1000":                      slices.Repeat(nemesis.Plan{all}, 201),
	} {
		if err := setting(plan...).Validate(); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
