package runner_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var (
	holder = nemesis.Machine{Client: 1}
	byStep = nemesis.Healing{Heal: nemesis.HealStep}
	bySlew = nemesis.Healing{Heal: nemesis.HealSlew}
)

// soon is when client 1 has held the lock for a little while.
var soon = nemesis.When(1, env.StepGranted, 20*ms)

// keeper is a scenario in which client 1 keeps the lock for as long as it may,
// and client 2 tries again and again: with a lock that reads the clock, under a
// plan.
func keeper(t *testing.T, clock env.Clock, plan ...nemesis.Fault) scenarios.Scenario {
	s := find(t, "clock-drift")
	s.Lock.Clock = clock.String()
	s.Plan = plan
	return s
}

// onNode3 is a scenario in which client 1 works on nodes 1, 2 and 3 for most of
// its validity, from a start on, and client 2 wants the lock meanwhile; under a
// plan for node 3.
func onNode3(t *testing.T, start time.Duration, plan ...nemesis.Fault) scenarios.Scenario {
	s := find(t, "node-clock-jump")
	s.Clients = append([]scenarios.Client(nil), s.Clients...)
	for i := range s.Clients {
		s.Clients[i].Start.Min += start
		s.Clients[i].Start.Max += start
	}
	s.Plan = append(nemesis.Plan{s.Plan[0]}, plan...)
	return s
}

// everyNode is one fault for each node.
func everyNode(fault func(m nemesis.Machine) nemesis.Fault) (plan []nemesis.Fault) {
	for n := 1; n <= 5; n++ {
		plan = append(plan, fault(nemesis.Machine{Node: n}))
	}
	return plan
}

// wantLease checks what 20 runs show of lease exclusion.
func wantLease(t *testing.T, what string, s scenarios.Scenario, want checker.Verdict) {
	t.Helper()
	tally := runs(t, s, 20)
	if got := tally.Observed(checker.Lease); got != want {
		t.Errorf("%s: lease exclusion is %v, want %v: %s", what, got, want, story(tally))
	}
}

func story(tally runner.Tally) string {
	if first, ok := tally.First[checker.Lease]; ok {
		return first.Report.Finding(checker.Lease).Story()
	}
	return "no run violates it"
}

// client-wall-step: a lock on the wall clock outlives its keys when that clock
// is stepped back, and only then; one on another clock does not look at it.
func TestClientWallStep(t *testing.T) {
	step := func(by time.Duration, at nemesis.Trigger) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockJump{Machine: holder, By: by}, Start: at}
	}
	const back, forward = -1500 * ms, 1500 * ms
	acquiring := nemesis.When(1, env.StepQuorum, 0)
	for _, at := range []nemesis.Trigger{soon, acquiring} {
		wantLease(t, "on the wall clock, stepped back", keeper(t, env.Wall, step(back, at)), checker.Violated)
		wantLease(t, "on the wall clock, stepped forward", keeper(t, env.Wall, step(forward, at)), checker.Holds)
		wantLease(t, "on the monotonic clock, stepped back", keeper(t, env.Monotonic, step(back, at)), checker.Holds)
		wantLease(t, "on boottime, stepped back", keeper(t, env.Boottime, step(back, at)), checker.Holds)
	}
	wantLease(t, "on the wall clock, left alone", keeper(t, env.Wall), checker.Holds)
}

// client-suspend: the clock that stops with the machine shows validity that is
// long over; the one that counts suspension does not, unless the machine has
// been restored from a snapshot.
func TestClientSuspend(t *testing.T) {
	stopped := func(a nemesis.Action) nemesis.Fault {
		return nemesis.Fault{Action: a, Start: soon, End: nemesis.After(1500 * ms)}
	}
	suspend := stopped(&nemesis.Suspend{Client: 1})
	wantLease(t, "suspended, on the monotonic clock", keeper(t, env.Monotonic, suspend), checker.Violated)
	wantLease(t, "suspended, on boottime", keeper(t, env.Boottime, suspend), checker.Holds)
	wantLease(t, "suspended, on the wall clock", keeper(t, env.Wall, suspend), checker.Holds)
	pause := stopped(&nemesis.Pause{Client: 1})
	wantLease(t, "paused, on the monotonic clock", keeper(t, env.Monotonic, pause), checker.Holds)

	snapshot := stopped(&nemesis.Snapshot{Client: 1})
	mended := stopped(&nemesis.Snapshot{Client: 1, Healing: byStep})
	wantLease(t, "restored, on the monotonic clock", keeper(t, env.Monotonic, snapshot), checker.Violated)
	wantLease(t, "restored, on boottime", keeper(t, env.Boottime, snapshot), checker.Violated)
	wantLease(t, "restored, on the wall clock", keeper(t, env.Wall, snapshot), checker.Violated)
	wantLease(t, "restored, on the wall clock, which is mended too late", keeper(t, env.Wall, mended), checker.Violated)
	short := nemesis.Fault{Action: &nemesis.Snapshot{Client: 1, Healing: byStep}, Start: soon, End: nemesis.After(500 * ms)}
	wantLease(t, "restored, on the wall clock, which is mended in time", keeper(t, env.Wall, short), checker.Holds)
	wantLease(t, "restored in time, on boottime", keeper(t, env.Boottime, short), checker.Violated)
}

// node-clock-back: a node whose clock is stepped back keeps its keys for
// longer; when the step is undone by another, they are gone at once.
func TestNodeClockBack(t *testing.T) {
	back := func(h nemesis.Healing, end *nemesis.Trigger) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 3}, By: -2 * time.Second, Healing: h}, Start: nemesis.At(0), End: end}
	}
	wantLease(t, "for good", onNode3(t, 0, back(nemesis.Healing{}, nil)), checker.Holds)
	wantLease(t, "undone by a step", onNode3(t, 0, back(byStep, &soon)), checker.Violated)
	wantLease(t, "undone by a slew", onNode3(t, 0, back(bySlew, &soon)), checker.Holds)
	before := nemesis.At(10 * ms)
	wantLease(t, "undone before the grant", onNode3(t, 100*ms, back(byStep, &before)), checker.Holds)
}

// clock-slew: the allowance covers what the usual slew brings, and not what
// the fastest daemons can, whether the client is slowed down or the nodes
// hurry.
func TestClockSlew(t *testing.T) {
	const usual, fastest = 500, 83_000
	slew := func(m nemesis.Machine, by time.Duration, ppm int64) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockSlew{Machine: m, By: by, PPM: ppm}, Start: nemesis.At(0)}
	}
	nodes := func(ppm int64) []nemesis.Fault {
		return everyNode(func(m nemesis.Machine) nemesis.Fault { return slew(m, time.Second, ppm) })
	}
	for clock := env.Monotonic; clock <= env.Wall; clock++ {
		wantLease(t, "a slow client on "+clock.String(), keeper(t, clock, slew(holder, -time.Second, fastest)), checker.Violated)
		wantLease(t, "a client not so slow on "+clock.String(), keeper(t, clock, slew(holder, -time.Second, usual)), checker.Holds)
	}
	wantLease(t, "fast nodes", keeper(t, env.Monotonic, nodes(fastest)...), checker.Violated)
	wantLease(t, "nodes not so fast", keeper(t, env.Monotonic, nodes(usual)...), checker.Holds)
	wantLease(t, "a slew that is soon over", keeper(t, env.Monotonic, slew(holder, -5*ms, fastest)), checker.Holds)
	wantLease(t, "a fast client", keeper(t, env.Monotonic, slew(holder, time.Second, fastest)), checker.Holds)
}

// frozen-clock: a node whose clock stands still keeps its keys. If it catches
// up at once when it thaws, keys that were set meanwhile are older than they
// are.
func TestFrozenClock(t *testing.T) {
	frozen := func(h nemesis.Healing, end *nemesis.Trigger) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: nemesis.Machine{Node: 3}, Healing: h}, Start: nemesis.At(0), End: end}
	}
	const late = 600 * ms
	wantLease(t, "for ever", onNode3(t, late, frozen(nemesis.Healing{}, nil)), checker.Holds)
	wantLease(t, "thaws and catches up", onNode3(t, late, frozen(byStep, &soon)), checker.Violated)
	wantLease(t, "thaws and catches up slowly", onNode3(t, late, frozen(bySlew, &soon)), checker.Holds)
	wantLease(t, "thaws and goes on", onNode3(t, late, frozen(nemesis.Healing{}, &soon)), checker.Holds)

	own := nemesis.Fault{Action: &nemesis.ClockFreeze{Machine: holder}, Start: soon}
	wantLease(t, "the holder's, on the wall clock", keeper(t, env.Wall, own), checker.Violated)
	wantLease(t, "the holder's, on the monotonic clock", keeper(t, env.Monotonic, own), checker.Holds)
}

// A rate that ends in a step is a step: what a slow node's clock has lost comes
// back at once.
func TestSlowNodeIsStepped(t *testing.T) {
	slow := func(h nemesis.Healing) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: 3}, PPM: -500_000, Healing: h}, Start: nemesis.At(0), End: &soon}
	}
	const late = 1200 * ms
	wantLease(t, "healed by a step", onNode3(t, late, slow(byStep)), checker.Violated)
	wantLease(t, "healed by a slew", onNode3(t, late, slow(bySlew)), checker.Holds)
	wantLease(t, "not healed", onNode3(t, late, slow(nemesis.Healing{})), checker.Holds)
}

// A clock that flips between two times is as bad as the worse of them.
func TestStrobe(t *testing.T) {
	strobe := func(m nemesis.Machine, by time.Duration) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.ClockStrobe{Machine: m, By: by, Period: 10 * ms}, Start: soon}
	}
	node := nemesis.Machine{Node: 3}
	wantLease(t, "a node's, forward", onNode3(t, 0, strobe(node, 2*time.Second)), checker.Violated)
	wantLease(t, "a node's, by less than what is left", onNode3(t, 0, strobe(node, 50*ms)), checker.Holds)
	wantLease(t, "a node's, back", onNode3(t, 0, strobe(node, -2*time.Second)), checker.Holds)
	wantLease(t, "the holder's", keeper(t, env.Monotonic, strobe(holder, time.Second)), checker.Holds)
}

// share runs a scenario and returns how many of the runs violate lease exclusion.
func share(t *testing.T, s scenarios.Scenario, n int) float64 {
	t.Helper()
	return float64(runs(t, s, n).Seen[checker.Lease][checker.Violated]) / float64(n)
}

// A holder outlives its keys where (fast + slow) / (1 + fast) is more than the
// allowance has of the TTL, whichever side the error is on; and soon beyond that
// in every run.
func TestDriftFollowsItsFormula(t *testing.T) {
	const reach = 0.006 // of the TTL: what a rival needs, at most, to find keys that have expired
	for _, factor := range []float64{0, 0.01, 0.05} {
		for _, nodes := range []float64{0, 0.5, 1} { // their part of the error
			t.Run(fmt.Sprintf("factor %v, nodes %v", factor, nodes), func(t *testing.T) {
				t.Parallel()
				s := find(t, "clock-drift")
				s.Lock.DriftFactor = factor
				allowance := factor + 0.002
				s.Plan = apart(nodes, allowance-0.0003)
				if got := share(t, s, 20); got > 0 {
					t.Errorf("%v of the runs violate exclusion, and the allowance covers the error", got)
				}
				s.Plan = apart(nodes, allowance+reach)
				if got := share(t, s, 20); got < 1 {
					t.Errorf("only %v of the runs violate exclusion", got)
				}
			})
		}
	}
}

// apart is clocks whose error is such that (fast + slow) / (1 + fast) comes to sum,
// a part of it the nodes'.
func apart(nodes, sum float64) (plan nemesis.Plan) {
	ppm := func(x float64) int64 { return int64(math.Round(x * 1e6)) }
	fast := nodes * sum / (1 - nodes*sum)
	slow := sum*(1+fast) - fast
	if f := ppm(fast); f != 0 {
		plan = append(plan, everyNode(func(m nemesis.Machine) nemesis.Fault {
			return nemesis.Fault{Action: &nemesis.ClockRate{Machine: m, PPM: f}, Start: nemesis.At(0)}
		})...)
	}
	if s := ppm(slow); s != 0 {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: holder, PPM: -s}, Start: nemesis.At(0)})
	}
	return plan
}

// The rates of the series of restart delays are those of their formulas: with the
// validity V, the delay D and ℓ until the rival is granted the lock,
// 1 − (D+ℓ)/V, and (V−D−ℓ)/e with an extension every e.
func TestRestartDelaysFollowTheirFormulas(t *testing.T) {
	const (
		validity = 988 * ms
		rival    = 3 * ms
		every    = 302 * ms // the wait of 300 ms, and the extension itself
		n        = 200
	)
	plain := func(d time.Duration) float64 { return 1 - float64(d+rival)/float64(validity) }
	extended := func(d time.Duration) float64 { return min(1, float64(validity-d-rival)/float64(every)) }
	for _, c := range []struct {
		name    string
		formula func(d time.Duration) float64
		delays  []int // in ms
	}{
		{"delayed-restart-at-%dms", plain, []int{200, 500, 800}},
		{"delayed-restart-extended-%dms", extended, []int{300, 750, 850}},
	} {
		for _, d := range c.delays {
			s := find(t, fmt.Sprintf(c.name, d))
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				want := c.formula(time.Duration(d) * ms)
				if got := share(t, s, n); math.Abs(got-want) > 3*math.Sqrt(want*(1-want)/n) {
					t.Errorf("%v of the runs violate exclusion, want about %.3f", got, want)
				}
			})
		}
	}
}
