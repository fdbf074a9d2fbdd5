package promises_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// calm returns a scenario without faults.
func calm(t *testing.T) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	s.Plan = nil
	return s
}

// planned returns a scenario with a plan, and other changes, in YAML.
func planned(t *testing.T, text string) scenarios.Scenario {
	t.Helper()
	s := calm(t)
	if err := form.Decode([]byte(text), "scenario", &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

func assumed(t *testing.T, text string) promises.Assumptions {
	t.Helper()
	terms, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return terms(scenarios.Scenario{})[checker.Lease]
}

// Each assumption excludes exactly the faults that it describes. The error names the fault.
func TestEachAssumptionRulesOut(t *testing.T) {
	const (
		drift = "clock_rate_ppm: 1000"
		delay = "restart_delay: 1s"
	)
	for _, c := range []struct {
		assumed, scenario string
		outside           string // empty: the scenario is inside
	}{
		{"{}", "plan: [{evict: {node: 1}}]", ""},
		{"without: [crash, evict]", "plan: [{shutdown: {node: 1}}, {evict: {node: 1}}]", "plan[1]: evict, which is assumed not to happen (without)"},
		{"no_pauses: true", "plan: [{node-pause: {node: 1}}, {pause: {client: 1}}]", "plan[1]: pause stops a client, against the assumption no_pauses"},
		{"no_pauses: true", "plan: [{suspend: {client: 1}}]", "plan[0]: suspend stops a client"},
		{"no_pauses: true", "plan: [{snapshot: {client: 1}}]", "plan[0]: snapshot stops a client"},

		{"faults_end: true", "plan: [{crash: {node: 1}}, {kill: {client: 1}}, {partition: {nodes: [2]}}, {loss: {percent: 9}, end: {after: 1s}}, {clock-jump: {node: 1, by: 1s}}]", ""},
		{"faults_end: true", "plan: [{loss: {percent: 9}}]", "plan[0]: this loss may last for ever, against the assumption faults_end"},
		{"faults_end: true", "plan: [{clock-freeze: {node: 1}, end: {client: 1, step: granted}}]", "plan[0]: this clock-freeze may last for ever, against the assumption faults_end"},
		{"faults_end: true", "plan: [{reset: {clients: [1]}, start: {client: 1, step: acquire}, end: {client: 1, step: granted}}]", "plan[0]: this reset may last for ever, against the assumption faults_end"},
		{"faults_end: true", "plan: [{reset: {clients: [1], once: true}, start: {client: 1, step: acquire}, end: {client: 1, step: granted}}]", ""},
		{"faults_end: true", "plan: [{reset: {once: true}}]", ""},
		{"faults_end: true", "plan: [{guard-latency: {add: {max: 1s}}}]", ""},
		{"faults_end: true", "plan: [{partition: {way: replies}}]", "plan[0]: replies may be cut off for ever while the other direction works"},
		{"faults_end: true", "plan: [{partition: {clients: [1], nodes: [2]}, end: {after: 1s}}, {partition: {clients: [1]}, start: {at: 2s}}]", ""},
		{"faults_end: true", "plan: [{partition: {clients: [1], nodes: [2]}}]", "plan[0]: a client may be cut off for ever from nodes that another reaches"},
		{"faults_end: true", "plan: [{split: {groups: [{clients: [1, 2], nodes: [1, 2, 3]}, {nodes: [4, 5]}]}}]", ""},
		{"faults_end: true", "plan: [{split: {groups: [{clients: [1], nodes: [1, 2, 3]}, {clients: [2], nodes: [4, 5]}]}}]", "plan[0]: a client"},

		{delay, "plan: [{crash: {node: 3}, end: {after: 1s}}]", ""},
		{delay, "plan: [{crash: {node: 3}, end: {after: 999ms}}]", "plan[0]: node 3 can return after 999ms without something that it had acknowledged, sooner than 1s (restart_delay)"},
		{delay, "plan: [{crash: {node: 3}, start: {at: 2s}, end: {at: 2999ms}}]", "plan[0]: node 3 can return after 999ms"},
		{delay, "plan: [{crash: {node: 3}, start: {at: 2s}, end: {at: 3s}}]", ""},
		{delay, "plan: [{crash: {node: 3}}]", ""},
		{delay, "plan: [{crash: {node: 3}, end: {client: 1, step: granted, plus: 20s}}]", "plan[0]: node 3 can return after 0s"},
		{delay, "plan: [{crash: {node: 3}, start: {client: 1, step: granted}, end: {at: 50s}}]", "plan[0]: node 3 can return after 0s"},
		{delay, "{persistence: aof-everysec, plan: [{crash: {node: 3}, end: {after: 0s}}, {shutdown: {node: 3}, start: {at: 1s}, end: {after: 0s}}]}", ""},
		{delay, "{persistence: aof-everysec, plan: [{power-loss: {node: 3}, end: {after: 0s}}]}", "plan[0]: node 3"},
		{delay, "{persistence: aof-always, plan: [{power-loss: {node: 3}, end: {after: 0s}}]}", ""},
		{delay, "{persistence: aof-always, plan: [{old-snapshot: {node: 3, age: 1s}, end: {after: 0s}}]}", "plan[0]: node 3"},
		{delay, "{persistence: aof-everysec, plan: [{power-loss: {node: 3, torn_tail: refuse}}]}", ""},
		{delay, "{persistence: aof-always, plan: [{power-loss: {node: 3, torn_tail: load}, end: {after: 0s}}]}", ""},
		{delay, "plan: [{vm-restore: {node: 3, age: 1s}, end: {after: 1s}}]", ""},
		{delay, "plan: [{vm-restore: {node: 3, age: 1s}, end: {after: 0s}}]", "plan[0]: node 3 can return after 0s without something that it had acknowledged"},
		{"node_clock_step: 1s", "plan: [{vm-restore: {node: 1, age: 1s}, end: {after: 1s}}]", ""},
		{"node_clock_step: 1s", "plan: [{vm-restore: {node: 1, age: 600ms, clock: restored}, end: {after: 400ms}}]", ""},
		{"node_clock_step: 1s", "plan: [{vm-restore: {node: 1, age: 600ms, clock: restored}, end: {after: 401ms}}]", "plan[0]: steps can move the wall clock of node 1 by 1.001s"},
		{"away: 0", "{replication: {max: 1s}, plan: [{split-brain: {node: 3}}]}", "plan[0]: nodes [3] can be away at a time"},
		{"without: [split-brain]", "{replication: {max: 1s}, plan: [{split-brain: {node: 3}}]}", "plan[0]: split-brain, which is assumed not to happen (without)"},
		{delay, "{persistence: aof-always, replication: {max: 1s}, plan: [{failover: {node: 3}, end: {after: 0s}}]}", "plan[0]: node 3"},
		{delay, "plan: [{shutdown: {node: 3}, end: {after: 0s}}]", "plan[0]: node 3"},
		{delay, "plan: [{crash: {node: 3, restart_delay: 1s}}]", ""},
		{delay, "plan: [{crash: {node: 3, restart_delay: 999ms}}]", "plan[0]: node 3 can return after 999ms"},
		{delay, "plan: [{crash: {node: 3, restart_delay: 1s}}, {clock-rate: {node: 3, ppm: -9}}, {clock-jump: {node: 2, by: 1s}}]", ""},
		{delay, "plan: [{crash: {node: 3, restart_delay: 1s}}, {clock-rate: {node: 3, ppm: 250000}}]", "plan[0]: node 3 can return after 800ms"},
		{delay, "plan: [{crash: {node: 3, restart_delay: 1s}}, {clock-jump: {node: 3, by: 250ms}, start: {at: 9s}}]", "plan[0]: node 3 can return after 750ms"},
		{"nothing_forgotten: true", "plan: [{crash: {node: 3}, end: {after: 1h}}]", "plan[0]: node 3 returns without something that it had acknowledged, against the assumption nothing_forgotten"},
		{"nothing_forgotten: true", "plan: [{crash: {node: 3}}]", ""},

		{drift, "plan: [{clock-rate: {node: 1, ppm: 1000}}, {clock-rate: {client: 1, ppm: -1000}}]", ""},
		{drift, "plan: [{clock-rate: {node: 1, ppm: 1001}}]", "plan[0]: the clocks of node 1 can be wrong by 1001 ppm, more than 1000"},
		{drift, "plan: [{clock-rate: {node: 1, ppm: 600}, end: {at: 1s}}, {clock-slew: {node: 1, by: 1ms, ppm: 500}, start: {at: 2s}}]", "plan[1]: the clocks of node 1 can be wrong by 1100 ppm"},
		{drift, "plan: [{clock-rate: {node: 1, ppm: 600}, end: {at: 1s}}, {clock-slew: {node: 1, by: -1ms, ppm: 500}, start: {at: 2s}}]", ""},
		{drift, "plan: [{clock-rate: {node: 1, ppm: -600, heal: slew}, end: {at: 1s}}, {clock-rate: {node: 1, ppm: 501}, start: {at: 9s}}]", "plan[1]: the clocks of node 1 can be wrong by 1001 ppm"},
		{drift, "plan: [{clock-jump: {client: 1, by: -1s, heal: slew, heal_ppm: 1001}, end: {at: 1s}}]", "plan[0]: the clocks of client 1 can be wrong by 1001 ppm"},
		{drift, "plan: [{clock-jump: {client: 1, by: -1s, heal: step}, end: {at: 1s}}, {clock-strobe: {node: 1, by: 1s, period: 1s}}]", ""},
		{drift, "plan: [{clock-freeze: {node: 1}}]", "plan[0]: the clocks of node 1 can be wrong by 1000000 ppm"},
		{drift, "plan: [{clock-freeze: {client: 1}}]", ""},
		{drift, "{lock: {clock: wall}, plan: [{clock-freeze: {client: 1}}]}", "plan[0]: the clocks of client 1 can be wrong by 1000000 ppm"},
		{drift, "{lock: {tokens: time}, plan: [{clock-freeze: {client: 1}}]}", "plan[0]: the clocks of client 1 can be wrong by 1000000 ppm"},
		{drift, "plan: [{snapshot: {client: 1, heal: slew, heal_ppm: 1001}, end: {after: 1s}}]", "plan[0]: the clocks of client 1 can be wrong by 1001 ppm"},

		{"node_clock_step: 0s", "plan: [{clock-jump: {client: 1, by: 1s}}, {clock-rate: {node: 1, ppm: 9}}]", ""},
		{"node_clock_step: 1s", "plan: [{clock-jump: {node: 1, by: 600ms}}, {clock-jump: {node: 2, by: 600ms}}]", ""},
		{"node_clock_step: 1s", "plan: [{clock-jump: {node: 1, by: 600ms}}, {clock-jump: {node: 1, by: -600ms}, start: {at: 1s}}]", "plan[1]: steps can move the wall clock of node 1 by 1.2s, more than 1s"},
		{"node_clock_step: 1s", "plan: [{clock-jump: {node: 1, by: 1s, heal: step}, end: {at: 1s}}]", ""},
		{"node_clock_step: 1s", "plan: [{clock-strobe: {node: 1, by: -1001ms, period: 1s}}]", "plan[0]: steps can move the wall clock of node 1 by 1.001s"},
		{"node_clock_step: 1s", "plan: [{clock-rate: {node: 1, ppm: 500000, heal: step}, end: {after: 2s}}]", ""},
		{"node_clock_step: 1s", "plan: [{clock-rate: {node: 1, ppm: 500000, heal: step}, end: {after: 2001ms}}]", "plan[0]: steps can move the wall clock of node 1 by 1.0005s"},
		{"node_clock_step: 1s", "plan: [{clock-freeze: {node: 1, heal: step}, end: {client: 1, step: granted}}]", "plan[0]: steps can move the wall clock of node 1 by 262800h0m0s"},
		{"client_clock_step: 0s", "plan: [{clock-jump: {node: 1, by: 1s}}, {clock-strobe: {client: 2, by: 1ms, period: 1s}}]", "plan[1]: steps can move the wall clock of client 2 by 1ms"},
		{"client_clock_step: 1s", "plan: [{snapshot: {client: 1, heal: step}, end: {after: 1001ms}}]", "plan[0]: steps can move the wall clock of client 1 by 1.001s"},

		{"clock_goes_on: true", "plan: [{suspend: {client: 1}}]", "plan[0]: suspend stops the clock that the lock reads (monotonic), against the assumption"},
		{"clock_goes_on: true", "{lock: {clock: boottime}, plan: [{suspend: {client: 1}}, {pause: {client: 2}}]}", ""},
		{"clock_goes_on: true", "{lock: {clock: boottime}, plan: [{snapshot: {client: 1}}]}", "plan[0]: snapshot stops the clock that the lock reads (boottime)"},

		{"away: 2", "plan: [{crash: {node: 1}}, {node-pause: {node: 2}}, {evict: {node: 3}}, {partition: {clients: [1], nodes: [1, 2]}}]", ""},
		{"away: 2", "plan: [{crash: {node: 1}}, {node-error: {nodes: [2], error: oom}}, {loss: {nodes: [3], percent: 1}}]", "plan[2]: nodes [1 2 3] can be away at a time, more than 2"},
		{"away: 2", "plan: [{crash: {node: 1}, end: {at: 1s}}, {crash: {node: 2}}, {crash: {node: 3}, start: {at: 1001ms}}]", ""},
		{"away: 2", "plan: [{crash: {node: 3}, start: {at: 1s}}, {crash: {node: 2}}, {crash: {node: 1}, end: {at: 1s}}]", "plan[2]: nodes [1 2 3]"},
		{"away: 2", "plan: [{crash: {node: 1}, end: {client: 1, step: granted}}, {crash: {node: 2}}, {crash: {node: 3}, start: {at: 50s}}]", "plan[2]: nodes [1 2 3]"},
		{"away: 2", "plan: [{crash: {node: 1}, start: {client: 1, step: granted}, end: {after: 1ms}}, {crash: {node: 2}}, {crash: {node: 3}, start: {at: 50s}}]", "plan[2]: nodes [1 2 3]"},
		{"away: 3", "plan: [{evict: {node: all}}, {node-pause: {node: all}}]", "plan[8]: nodes [1 2 3 4] can be away at a time"}, // as they are carried out
		{"node_clock_step: 1s", "plan: [{clock-jump: {node: all, by: 1s}}]", ""},
		{delay, "plan: [{crash: {node: all, restart_delay: 1s}}, {clock-jump: {node: 3, by: 250ms}}]", "plan[2]: node 3 can return after 750ms"},
		{"away: 0", "plan: [{reset: {nodes: [4], way: replies}}]", "plan[0]: nodes [4]"},
		{"away: 0", "plan: [{bandwidth: {nodes: [4], bytes_per_second: 9}}]", "plan[0]: nodes [4]"},
		{"away: 4", "plan: [{latency: {add: {max: 1ms}}}]", "plan[0]: nodes [1 2 3 4 5]"},
		{"away: 1", "plan: [{split: {groups: [{clients: [1], nodes: [1, 2, 3, 4, 5]}, {clients: [2, 3], nodes: [1, 2, 3]}]}}]", "plan[0]: nodes [4 5]"},

		{"fence_checked: true", "guard: fenced", ""},
		{"fence_checked: true", "guard: fenced-writes", "guard: fences are not checked on reads and writes, against the assumption fence_checked"},
	} {
		a, s := assumed(t, c.assumed), planned(t, c.scenario)
		err := a.Outside(s)
		switch {
		case c.outside == "" && err != nil:
			t.Errorf("under %s\n%s\nis inside, but: %v", c.assumed, c.scenario, err)
		case c.outside != "" && (err == nil || !strings.HasPrefix(err.Error(), c.outside)):
			t.Errorf("under %s\n%s\nis outside: %v, want %s", c.assumed, c.scenario, err, c.outside)
		case err != nil && !errors.As(err, new(*nemesis.FieldError)):
			t.Errorf("%v has no path", err)
		}
	}
}

// sets returns a variety of assumptions.
func sets(t *testing.T) (list []promises.Assumptions) {
	for _, s := range deployed(t) {
		for _, a := range promises.Of(s) {
			list = append(list, a)
		}
	}
	for _, text := range []string{
		"{}", "away: 2", "nothing_forgotten: true", "clock_rate_ppm: 70000", "node_clock_step: 500ms",
		"client_clock_step: 1s", "{without: [latency, loss], away: 3, restart_delay: 300ms}",
	} {
		list = append(list, assumed(t, text))
	}
	return list
}

// Law: each fault of a plan inside the assumptions is admitted by itself; for a plan of one
// fault Admits and Outside agree; and Keep returns a plan inside the assumptions, and all of
// one that already is.
func TestAdmitsAgreesWithOutside(t *testing.T) {
	s := calm(t)
	s.Guard = guard.Fenced
	inside, outside := 0, 0
	for i, a := range sets(t) {
		for n := range uint64(300) {
			s.Plan = nemesis.Generator{Most: 5}.Plan(s.World(), s.Lock.TTL, rand.NewPCG(n, uint64(i)))
			kept := a.Keep(s)
			if err := a.Outside(kept); err != nil {
				t.Errorf("what is kept is outside: %v", err)
			}
			if a.Outside(s) != nil {
				outside++
				if len(kept.Plan) == len(s.Plan) {
					t.Errorf("a plan that is outside is kept: %v", s.Plan)
				}
			} else {
				inside++
				if len(kept.Plan) != len(s.Plan) {
					t.Errorf("of a plan that is inside not all is kept: %v", s.Plan)
				}
			}
			for _, f := range s.Plan {
				alone := s
				alone.Plan = nemesis.Plan{f}
				if admitted := a.Admits(f, s); admitted != (a.Outside(alone) == nil) || !admitted && a.Outside(s) == nil {
					t.Errorf("%v is admitted: %v; alone: %v; with others: %v", f, admitted, a.Outside(alone), a.Outside(s))
				}
			}
		}
	}
	if inside < 1000 || outside < 1000 {
		t.Errorf("%d plans are inside and %d outside: that says little", inside, outside)
	}
}

// The assumptions that a row breaks are what the row is about.
func TestBrokenAssumptionsAreNamed(t *testing.T) {
	for row, want := range map[string][]string{
		"calm":            nil,
		"crash-restart":   {"restart_delay"},
		"evicted-key":     {"without"},
		"node-clock-jump": {"node_clock_step"},
		"client-suspend":  {"clock_goes_on"},
	} {
		s, err := scenarios.Find(row)
		if err != nil {
			t.Fatal(err)
		}
		if got := promises.Of(s)[checker.Lease].BrokenBy(s); !slices.Equal(got, want) {
			t.Errorf("%s leaves %v: want %v", row, got, want)
		}
	}
}

// edgeOf returns the boundary of a value of the last fault of a plan, given the others.
func edgeOf(t *testing.T, a promises.Assumptions, s scenarios.Scenario, name string) (inside, outside int64, ok bool) {
	t.Helper()
	last := len(s.Plan) - 1
	f := s.Plan[last]
	s.Plan = s.Plan[:last]
	f.EachValue(func(n string, value any) {
		if n == name {
			inside, outside, ok = a.Boundary(s, &f, value)
		}
	})
	return inside, outside, ok
}

// The boundary is where an assumption stops admitting a fault.
func TestBoundary(t *testing.T) {
	ms := int64(time.Millisecond)
	for _, c := range []struct {
		assumed, scenario, value string
		inside, outside          int64 // both 0: there is none
	}{
		{"clock_rate_ppm: 26694", "plan: [{clock-rate: {client: 1, ppm: -500}, start: {}}]", "ppm", -26_694, -26_695},
		{"clock_rate_ppm: 1000", "plan: [{clock-rate: {node: 1, ppm: 600}, start: {}, end: {after: 1s}}, {clock-rate: {node: 1, ppm: 7}, start: {at: 2s}}]", "ppm", 400, 401},
		{"clock_rate_ppm: 1000", "plan: [{clock-rate: {node: 1, ppm: 600}, start: {}}, {clock-rate: {node: 2, ppm: 7}, start: {at: 2s}}]", "ppm", 1000, 1001},
		{"node_clock_step: 5ms", "plan: [{clock-jump: {node: 2, by: -1s}, start: {}}]", "by", -5 * ms, -5*ms - 1000},
		{"node_clock_step: 5ms", "plan: [{clock-jump: {client: 2, by: -1s}, start: {}}]", "by", 0, 0},
		{"restart_delay: 1s", "{persistence: none, plan: [{crash: {node: 2}, start: {}, end: {after: 3ms}}]}", "after", 1000 * ms, 1000*ms - 1000},
		{"restart_delay: 1s", "{persistence: aof-always, plan: [{crash: {node: 2}, start: {}, end: {after: 3ms}}]}", "after", 0, 0},
		{"without: [pause]", "plan: [{pause: {client: 1}, start: {}, end: {after: 3ms}}]", "after", 0, 0},
	} {
		s := planned(t, c.scenario)
		before := s.Plan.Clone()
		inside, outside, ok := edgeOf(t, assumed(t, c.assumed), s, c.value)
		if inside != c.inside || outside != c.outside || ok != (c.inside != 0) {
			t.Errorf("%s of %s: the edge is %d and %d (%v), want %d and %d", c.assumed, c.scenario, inside, outside, ok, c.inside, c.outside)
		}
		if last := len(before) - 1; s.Plan[last].Action.(fmt.Stringer).String() != before[last].Action.(fmt.Stringer).String() {
			t.Errorf("%s: looking for the edge has changed the fault: %v", c.scenario, s.Plan[last])
		}
	}
}
