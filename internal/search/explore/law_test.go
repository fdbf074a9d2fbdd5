package explore

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var worlds = flag.Int("worlds", 20, "random worlds in which the reductions are compared with every run")

const ms = time.Millisecond

// Law: the runs that the reductions leave show the same sets of verdicts as all runs.
func TestReductionsKeepTheVerdicts(t *testing.T) {
	var all, left, compared, violated, unequal int
	for n := range *worlds {
		random := rand.New(rand.NewPCG(uint64(n), 27))
		s, b := randomWorld(random)
		every, made := verdictsOf(t, s, b, true)
		if every == nil {
			continue // too many to make
		}
		reduced, fewer := verdictsOf(t, s, b, false)
		all, left, compared = all+made, left+fewer, compared+1
		if slices.ContainsFunc(every, func(v string) bool { return strings.Contains(v, "violated") }) {
			violated++
		}
		if len(every) > 1 {
			unequal++
		}
		if !slices.Equal(every, reduced) {
			t.Errorf("world %d (%s): all %d runs show\n%s\nthe %d that are left\n%s", n, s.Summary, made, strings.Join(every, "\n"), fewer, strings.Join(reduced, "\n"))
		}
	}
	t.Logf("%d worlds: %d runs, of which %d are left; a property is violated in %d worlds, and runs differ in %d", compared, all, left, violated, unequal)
	if violated == 0 || unequal == 0 || left >= all {
		t.Error("the worlds show nothing")
	}
}

// most is how many runs of a world are made without reductions, at most.
const most = 2_000

// verdictsOf returns the sets of verdicts that the runs of a world show, and how many runs there are.
// The sets are nil if there are too many runs.
func verdictsOf(t *testing.T, s scenarios.Scenario, b Bounds, everyRun bool) (sets []string, runs int) {
	t.Helper()
	var all []scenarios.Pick
	for i := range s.Plan {
		all = append(all, scenarios.Pick{Number: i + 1, At: -1})
	}
	e, c, err := b.prepare(s, all)
	if err != nil {
		t.Fatal(err)
	}
	c.EveryOrder = c.EveryOrder || everyRun
	seen := map[string]bool{}
	x := newSearch(e, c, -1, Limits{Executions: most}.ready(), nil)
	x.noMerging = everyRun
	x.each = func(r runner.Result) { seen[verdictsIn(r)] = true }
	if err := x.run(t.Context(), func(Tally) {}); err != nil {
		t.Fatal(err)
	}
	runs = x.Tally.Executions + x.Tally.Cut
	if !x.Finished {
		return nil, runs
	}
	for v := range seen {
		sets = append(sets, v)
	}
	slices.Sort(sets)
	return sets, runs
}

func verdictsIn(r runner.Result) string {
	var text []string
	for _, p := range checker.Properties() {
		text = append(text, fmt.Sprintf("%s %v", p, r.Report.Verdicts()[p]))
	}
	return strings.Join(text, ", ")
}

// randomWorld returns a world so small that every run of it can be made.
func randomWorld(random *rand.Rand) (scenarios.Scenario, Bounds) {
	pick := func(from ...time.Duration) time.Duration { return from[random.IntN(len(from))] }
	span := func(shortest time.Duration, more ...time.Duration) nemesis.Range {
		return nemesis.Range{Min: shortest, Max: shortest + pick(more...)}
	}
	kinds := []string{"redlock", "redlock", "single-node", "setnx-del", "get-then-del", "check-then-set"}
	s := scenarios.Scenario{
		Name: "tiny",
		Lock: scenarios.Lock{Kind: kinds[random.IntN(len(kinds))], TTL: pick(6*ms, 8*ms), DriftFactor: 0.01, NodeTimeout: pick(2*ms, 3*ms)},
		Setting: nemesis.Setting{
			Nodes: 1, Persistence: nemesis.Nothing, Horizon: pick(5*ms, 7*ms, 9*ms),
			Latency: nemesis.Distribution{Range: span(500*time.Microsecond, 0)},
		},
	}
	if s.Lock.Kind == "redlock" && random.IntN(2) == 0 {
		s.Nodes = 2
	}
	// Only some latencies vary, or there would be too many runs.
	if random.IntN(4) > 0 {
		way := []nemesis.Direction{nemesis.Both, nemesis.Requests, nemesis.Replies}[random.IntN(3)]
		s.Links = []nemesis.LinkLatency{{
			Links:   nemesis.Links{Clients: []int{1 + random.IntN(2)}, Nodes: []int{1}},
			Way:     way,
			Latency: nemesis.Distribution{Range: span(500*time.Microsecond, ms, 2*ms, 4*ms)},
		}}
	}
	s.Lock.Retry = span(ms, 0)
	if s.Lock.Kind == "redlock" {
		s.Lock.Linger = 2 * ms
	}
	for range 2 {
		s.Clients = append(s.Clients, scenarios.Client{Workload: "hold", Resource: "r", Rounds: 1,
			Start: span(0, 0, 2*ms), Work: span(ms, 0, 2*ms)})
	}
	step := func() nemesis.Trigger {
		steps := []env.Step{env.StepBeforeSend, env.StepQuorum, env.StepGranted, env.StepBeforeWrite}
		return nemesis.When(1, steps[random.IntN(len(steps))], 0)
	}
	machine := nemesis.Machine{Node: 1}
	if random.IntN(2) == 0 {
		machine = nemesis.Machine{Client: 1}
	}
	switch random.IntN(7) {
	case 0:
		s.Plan = nemesis.Plan{{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(pick(ms, 2*ms, 4*ms)), End: nemesis.After(0)}}
	case 1:
		s.Plan = nemesis.Plan{{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(pick(ms, 2*ms)), End: nemesis.After(pick(3*ms, 7*ms))}}
	case 2: // a preemption has an effect on one machine
		s.Plan = nemesis.Plan{{Action: &nemesis.Pause{Client: 1}, Start: step(), End: nemesis.After(pick(3*ms, 7*ms))}}
	case 3: // has an effect on another machine at the same instant, at which a request may arrive there
		s.Plan = nemesis.Plan{{Action: &nemesis.Evict{Node: 1}, Start: step()}}
		s.Clients[1].Start = span(500*time.Microsecond, 0)
	case 4:
		s.Plan = nemesis.Plan{{Action: &nemesis.ClockJump{Machine: machine, By: pick(-6*ms, 3*ms, 6*ms)}, Start: nemesis.At(pick(ms, 2*ms))}}
	case 5:
		s.Plan = nemesis.Plan{{Action: &nemesis.ClockRate{Machine: machine, PPM: []int64{-500_000, 500_000}[random.IntN(2)]}, Start: nemesis.At(pick(0, ms)), End: nemesis.After(pick(2*ms, 4*ms))}}
	}
	s.Summary = fmt.Sprintf("%s on %d nodes, links %v, plan %v", s.Lock.Kind, s.Nodes, s.Links, s.Plan)
	return s, Bounds{Latencies: 2, Draws: 1, Deviations: -1, Tick: ms}
}
