package tune

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const (
	resource   = "job" // the lock
	maxClients = 32    // bound the cost of a run
	maxStops   = 100   // of each kind and client
)

// rng draws what is constant in a run and differs between runs.
type rng struct{ *rand.Rand }

func newRNG(seed uint64) rng { return rng{rand.New(nemesis.Stream(seed, "tune"))} }

func (d rng) of(l Length) time.Duration { return l.quantile(d.Float64()) }

// stop is a pause after a client has run for a time.
type stop struct{ ran, length time.Duration }

// stops draws the pauses of a client, in order: each kind is a Poisson process of its running time.
func (d rng) stops(kinds []Pause, running time.Duration) (list []stop) {
	for _, k := range kinds {
		ran := 0.0
		for range maxStops {
			if ran += d.ExpFloat64() * float64(k.Every); ran > float64(running) {
				break
			}
			list = append(list, stop{time.Duration(ran), d.of(k.Length)})
		}
	}
	slices.SortFunc(list, func(a, b stop) int { return cmp.Compare(a.ran, b.ran) })
	return list
}

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

// world returns the known nodes, with all of the round trip on one way: a late SET blocks
// others for longer, a prompt one expires first.
func (m *model) world(late nemesis.Direction) nemesis.Setting {
	prompt := nemesis.Replies
	if late == nemesis.Replies {
		prompt = nemesis.Requests
	}
	half := m.pace.inSim(2)
	s := nemesis.Setting{
		Nodes: m.Nodes, Persistence: m.Crashes.Persistence, Latency: m.pace.inSim(1), GuardLatency: &half, Guard: guard.Plain,
		Links: []nemesis.LinkLatency{{Way: prompt}},
	}
	if m.FenceChecked {
		s.Guard = guard.Fenced
	}
	first := 1
	for _, z := range m.zones {
		if len(m.zones) > 1 {
			s.Links = append(s.Links, nemesis.LinkLatency{Links: nemesis.Links{Nodes: numbers(first, z.Nodes)}, Way: late, Latency: z.RoundTrip.inSim(1)})
		}
		first += z.Nodes
	}
	return s
}

// numbers returns n numbers.
func numbers(first, n int) (list []int) {
	for i := range n {
		list = append(list, first+i)
	}
	return list
}

// rates makes the clocks of all nodes fast and that of client 1 slow, by the bound.
func (m *model) rates() (plan nemesis.Plan) {
	if m.Clocks.RatePPM == 0 {
		return nil
	}
	drift := func(machine nemesis.Machine, ppm int64) {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: machine, PPM: ppm}, Start: nemesis.At(0)})
	}
	for n := range m.Nodes {
		drift(nemesis.Machine{Node: n + 1}, m.Clocks.RatePPM)
	}
	drift(nemesis.Machine{Client: 1}, -m.Clocks.RatePPM)
	return plan
}

// everyday draws a scenario with the clients as stated. Timings are scouted without faults.
// Holds and thinking may then be shortened by a factor if they are long compared to retry
// delays: that does not change who arrives when at a free lock.
func (m *model) everyday(s Setting, d rng, rounds int, faults bool, factor float64) scenarios.Scenario {
	scaled := func(t time.Duration) nemesis.Range { return exactly(time.Duration(float64(t) * factor)) }
	n := min(m.Contention.Clients, maxClients)
	busy, slowest := time.Duration(0), time.Duration(0)
	var clients []scenarios.Client
	for range n {
		c := scenarios.Client{
			Workload: "section", Resource: resource, Rounds: rounds, Fence: m.FenceChecked,
			Work: scaled(d.of(m.Hold)), Think: scaled(d.of(m.Contention.Think)),
		}
		c.Start = exactly(time.Duration(d.Float64() * float64(c.Work.Max+c.Think.Max)))
		busy += c.Work.Max
		slowest = max(slowest, c.Work.Max+c.Think.Max+c.Start.Max/time.Duration(rounds))
		clients = append(clients, c)
	}
	expected := time.Duration(rounds) * max(busy, slowest)
	setting := m.world(nemesis.Requests)
	setting.Horizon = 3*expected + time.Duration(n*rounds)*(s.RetryMax+s.NodeTimeout) + 10*s.TTL
	if faults {
		setting.Plan = m.rates()
		for c := range clients {
			stood := time.Duration(0)
			for _, p := range d.stops(m.Pauses, expected) {
				setting.Plan = append(setting.Plan, nemesis.Fault{Action: &nemesis.Pause{Client: c + 1}, Start: nemesis.At(p.ran + stood), End: nemesis.After(p.length + 1)})
				stood += p.length + 1
			}
		}
	}
	return scenarios.Scenario{
		Name: "tune-everyday", Summary: "clients as stated",
		Lock: s.Lock(), Clients: clients, Setting: setting,
		Expect: scenarios.Expectations{checker.Lease: checker.Holds},
	}
}

// scout draws a scenario that tests a timing, with a TTL that does not matter and perfect
// clocks.
func (m *model) scout(p timing, d rng, rounds int) scenarios.Scenario {
	factor := min(1, 10*float64(p.retryMax)/max(1, float64(m.Hold.quantile(0.5))))
	ttl := roundUp(4*m.Hold.Max+20*p.timeout, time.Second)
	s := Setting{TTL: ttl, DriftFactor: leastDrift, NodeTimeout: p.timeout, RetryMin: p.retryMin, RetryMax: p.retryMax, Margin: ttl / 20}
	return m.everyday(s, d, rounds, false, factor)
}

// edge returns a scenario with a holder that has a bare quorum and keeps the lock to the last instant, under
// the worst clocks, while another client asks all the time near the end. The lock warns its holder at the
// very end, or a gap would be missed. A lease is extended twice. Nodes step forward at a share of the last
// lease. If crash is true, nodes of the holder's quorum crash when its last lease has just begun: then they
// have to stay away for longest, and under aof-everysec the key is not yet synced. The other client asks
// once more after their return.
func (m *model) edge(s Setting, crash bool, stepAt float64) scenarios.Scenario {
	const lastExtension = 2
	lock, lease := s.Lock(), s.TTL
	lock.Margin, lock.Retry = 0, often(s.TTL/8)
	begins := nemesis.When(1, env.StepGranted, 0)
	if s.ExtendEvery > 0 {
		lock.Watchdog.Limit = lastExtension
		lease += lastExtension * s.ExtendEvery
		begins = nemesis.When(1, env.StepExtended, 0)
		begins.Count = lastExtension
	}
	setting := m.world(nemesis.Replies)
	setting.Horizon = 6*lease + 2*s.RestartDelay + 10*s.NodeTimeout
	setting.Plan = m.rates()
	if others := numbers(m.quorum()+1, m.spare()); len(others) > 0 {
		setting.Plan = append(setting.Plan, nemesis.Fault{
			Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: others}}, Start: nemesis.At(0),
		})
	}
	for n := 1; n <= m.Nodes && m.Clocks.LargestStep > 0; n++ {
		step := begins
		step.Plus = time.Duration(stepAt * float64(s.TTL))
		setting.Plan = append(setting.Plan, nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: n}, By: m.Clocks.LargestStep}, Start: step})
	}
	for n := 1; n <= m.quorum()-m.spare() && crash; n++ { // as many as the other nodes lack to a quorum
		setting.Plan = append(setting.Plan, m.crash(s, n, begins))
	}
	// Early enough for a few tries before the holder's validity ends.
	asks := max(lease-s.Allowance()-s.TTL/10-3*m.slowest.Max, 0)
	return scenarios.Scenario{
		Name: "tune-edge", Summary: "a holder keeps the lock to the last instant, with the worst clocks",
		Lock: lock, Setting: setting,
		Clients: []scenarios.Client{
			{Workload: "hold", Resource: resource, Rounds: 1, Work: exactly(3 * lease)},
			{Workload: "hold", Resource: resource, Rounds: 2, Work: exactly(s.TTL / 10), Start: exactly(asks), Think: exactly(s.RestartDelay)},
		},
		Expect: scenarios.Expectations{checker.Lease: checker.Holds},
	}
}

// crash takes a node down for the restart delay, with the worst loss that its persistence allows: a machine
// that loses power keeps only what it has synced.
func (m *model) crash(s Setting, node int, at nemesis.Trigger) nemesis.Fault {
	f := nemesis.Fault{Action: &nemesis.Crash{Node: node, RestartDelay: s.RestartDelay}, Start: at}
	if m.Crashes.Persistence != nemesis.Nothing {
		f.Action = &nemesis.PowerLoss{Node: node, RestartDelay: s.RestartDelay}
	}
	if s.RestartDelay == 0 {
		f.End = nemesis.After(0)
	}
	return f
}

// tooEarly returns the control of edge, which has to violate exclusion: nodes that crash return after a
// tenth of the TTL, without their keys.
func (m *model) tooEarly(s Setting) scenarios.Scenario {
	forgetful := *m
	forgetful.Crashes.Persistence = nemesis.Nothing
	s.RestartDelay = s.TTL / 10
	one := forgetful.edge(s, true, 0.1)
	one.Name, one.Summary = "tune-too-early", fmt.Sprintf("the control of edge: crashed nodes return after %v, without their keys", s.RestartDelay)
	one.Expect = scenarios.Expectations{checker.Backing: checker.Violated, checker.Lease: checker.Violated, checker.Section: checker.Unknown}
	return one
}

// onServers returns edge with its crashes, and too early, for real servers, which bring their own network and
// clocks. The holder does not extend: it would notice that a quorum has lost its key.
func (m *model) onServers(s Setting) (restart, control scenarios.Scenario) {
	s.ExtendEvery = 0
	restart, control = m.edge(s, true, 0), m.tooEarly(s)
	restart.Name, restart.Summary = "restart", fmt.Sprintf("must hold: nodes of the holder's quorum crash, and return after the recommended %v", s.RestartDelay)
	control.Name, control.Summary = "restart-too-early", "must be violated: "+control.Summary
	control.Expect[checker.Section] = checker.Violated
	for _, one := range []*scenarios.Scenario{&restart, &control} {
		one.Latency, one.Links, one.GuardLatency = nemesis.Distribution{}, nil, nil
		one.Plan = slices.DeleteFunc(one.Plan, func(f nemesis.Fault) bool {
			return strings.HasPrefix(string(f.Action.Kind()), "clock-")
		})
		other := &one.Clients[1]
		other.Start, other.Think = exactly(s.TTL/2), exactly(max(other.Think.Max-s.TTL, 0)+s.TTL/10) // the second time after the return
	}
	return restart, control
}

// often returns a retry delay of about a thousandth of a time.
func often(within time.Duration) nemesis.Range {
	d := max(within/1000, 50*time.Microsecond)
	return nemesis.Range{Min: d / 2, Max: 3 * d / 2}
}
