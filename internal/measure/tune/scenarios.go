package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// rng draws what is constant in a run and differs between runs.
type rng struct{ *rand.Rand }

func newRNG(seed uint64) rng { return rng{rand.New(nemesis.Stream(seed, "tune"))} }

func (d rng) of(what *nemesis.Table) time.Duration { return what.Draw(d.Uint64()) }

func (d rng) upTo(most time.Duration) time.Duration {
	return nemesis.Range{Max: max(most, 0)}.Draw(d.Uint64())
}

// wait draws the time to the next event of a Poisson process with a mean interval, by inversion: similar
// bits give similar times, which multilevel splitting needs.
func (d rng) wait(every time.Duration) time.Duration {
	u := (float64(d.Uint64()>>11) + 0.5) / (1 << 53)
	return time.Duration(min(-math.Log(u)*float64(every), float64(nemesis.MaxDuration)))
}

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

// resource is the name of the lock.
const resource = "job"

// world returns the known nodes, with all of the round trip on one way: a late SET blocks
// others for longer, a prompt one expires first.
func (m *model) world(late nemesis.Direction) nemesis.Setting {
	prompt := nemesis.Replies
	if late == nemesis.Replies {
		prompt = nemesis.Requests
	}
	half := halved(m.RoundTrip)
	s := nemesis.Setting{
		Nodes:        m.Nodes,
		Persistence:  m.persistence(),
		Latency:      m.RoundTrip,
		Links:        []nemesis.LinkLatency{{Way: prompt}},
		GuardLatency: &half,
		Guard:        guard.Plain,
	}
	if m.FenceChecked {
		s.Guard = guard.Fenced
	}
	return s
}

// halved returns a distribution of half the durations.
func halved(d nemesis.Distribution) nemesis.Distribution {
	d.Min, d.Max = d.Min/2, d.Max/2
	if d.LogNormal != nil {
		d.LogNormal = &nemesis.LogNormal{Median: max(1, d.LogNormal.Median/2), Sigma: d.LogNormal.Sigma}
	}
	if d.Pareto != nil {
		d.Pareto = &nemesis.Pareto{Scale: max(1, d.Pareto.Scale/2), Alpha: d.Pareto.Alpha}
	}
	d.Samples = slices.Clone(d.Samples)
	for i := range d.Samples {
		d.Samples[i] /= 2
	}
	return d
}

// rates makes the clocks of all nodes fast and those of some clients slow, by the bound.
func (m *model) rates(clients ...int) (plan nemesis.Plan) {
	if m.Clocks.RatePPM == 0 {
		return nil
	}
	drift := func(machine nemesis.Machine, ppm int64) {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: machine, PPM: ppm}, Start: nemesis.At(0)})
	}
	for n := 1; n <= m.Nodes; n++ {
		drift(nemesis.Machine{Node: n}, m.Clocks.RatePPM)
	}
	for _, c := range clients {
		drift(nemesis.Machine{Client: c}, -m.Clocks.RatePPM)
	}
	return plan
}

// maxClients and maxFaults bound the cost of a run.
const (
	maxClients = 32
	maxFaults  = 100
)

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
			Work: scaled(d.of(m.tables.hold)), Think: scaled(d.of(m.tables.think)),
		}
		c.Start = scaled(d.upTo(c.Work.Max + c.Think.Max))
		busy += c.Work.Max
		slowest = max(slowest, c.Work.Max+c.Think.Max+c.Start.Max/time.Duration(rounds))
		clients = append(clients, c)
	}
	expected := time.Duration(rounds) * max(busy, slowest)
	setting := m.world(nemesis.Requests)
	setting.Horizon = 3*expected + time.Duration(n*rounds)*(s.RetryMax+s.NodeTimeout) + 10*s.TTL
	if faults {
		setting.Plan = m.everydayPlan(s, d, n, expected)
	}
	return scenarios.Scenario{
		Name: "tune-everyday", Summary: "clients as stated",
		Lock: s.Lock(), Clients: clients, Setting: setting,
		Expect: scenarios.Expectations{checker.Lease: checker.Holds},
	}
}

// everydayPlan draws clocks at their bounds, and pauses and crashes at their rates.
func (m *model) everydayPlan(s Setting, d rng, clients int, length time.Duration) nemesis.Plan {
	plan := m.rates(1)
	for c := 1; c <= clients && m.Pauses.Length != nil; c++ {
		for at := d.wait(m.Pauses.Every); at < length && len(plan) < maxFaults; {
			pause := d.of(m.tables.pause)
			plan = append(plan, nemesis.Fault{Action: &nemesis.Pause{Client: c}, Start: nemesis.At(at), End: nemesis.After(pause)})
			at += pause + 1 + d.wait(m.Pauses.Every)
		}
	}
	for n := 1; n <= m.Nodes && m.Crashes.NodeEvery > 0; n++ {
		for at := d.wait(m.Crashes.NodeEvery); at < length && len(plan) < maxFaults; {
			plan = append(plan, m.crash(s, n, nemesis.At(at)))
			at += 2*s.RestartDelay + time.Second + d.wait(m.Crashes.NodeEvery)
		}
	}
	return plan
}

// crash takes a node down for the restart delay, with the worst loss that its persistence
// allows: a process that dies keeps what it has written, a machine that loses power only what it
// has synced.
func (m *model) crash(s Setting, node int, at nemesis.Trigger) nemesis.Fault {
	f := nemesis.Fault{Action: &nemesis.Crash{Node: node, RestartDelay: s.RestartDelay}, Start: at}
	if m.persistence() != nemesis.Nothing {
		f.Action = &nemesis.PowerLoss{Node: node, RestartDelay: s.RestartDelay}
	}
	if s.RestartDelay == 0 {
		f.End = nemesis.After(0)
	}
	return f
}

// lastExtension is how often the holder of an edge trial extends.
const lastExtension = 2

// lease is how long the holder of an edge trial keeps the lock, about.
func (s Setting) lease() time.Duration {
	if s.ExtendEvery == 0 {
		return s.TTL
	}
	return s.TTL + lastExtension*s.ExtendEvery
}

// leaseBegins is when the last lease of the holder of an edge trial has begun, plus a time.
func (s Setting) leaseBegins(plus time.Duration) nemesis.Trigger {
	if s.ExtendEvery == 0 {
		return nemesis.When(1, env.StepGranted, plus)
	}
	at := nemesis.When(1, env.StepExtended, plus)
	at.Count = lastExtension
	return at
}

// edge draws a scenario in which clocks alone can end the last lease too early.
func (m *model) edge(s Setting, d rng) scenarios.Scenario {
	return m.toTheEnd(s, "tune-edge", "a holder keeps the lock to the last instant, with the worst clocks",
		m.steps(nemesis.When(1, env.StepGranted, d.upTo(s.lease()))))
}

// toTheEnd returns a scenario with a holder that has a bare quorum and keeps the lock to the last
// instant, and a client that asks all the time near the end. The lock warns its holder at the
// very end and retries at once, or a gap would be missed. Other settings are those of s.
func (m *model) toTheEnd(s Setting, name, summary string, faults nemesis.Plan) scenarios.Scenario {
	lock := s.Lock()
	lock.Margin, lock.Retry = 0, often(s.TTL/8)
	if s.ExtendEvery > 0 {
		lock.Watchdog.Limit = lastExtension
	}
	lease := s.lease()
	setting := m.world(nemesis.Replies)
	setting.Horizon = 6*lease + 10*s.NodeTimeout
	setting.Plan = m.rates(1)
	if others := minority(m.Known); len(others) > 0 {
		setting.Plan = append(setting.Plan, nemesis.Fault{
			Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: others}}, Start: nemesis.At(0),
		})
	}
	setting.Plan = append(setting.Plan, faults...)
	return scenarios.Scenario{
		Name: name, Summary: summary,
		Lock: lock, Setting: setting,
		Clients: []scenarios.Client{
			{Workload: "hold", Resource: resource, Rounds: 1, Work: exactly(3 * lease)},
			{Workload: "hold", Resource: resource, Rounds: 1, Work: exactly(s.TTL / 10), Start: exactly(m.asksFrom(s))},
		},
		Expect: scenarios.Expectations{checker.Lease: checker.Holds},
	}
}

// steps makes the clocks of all nodes step forward at once, by the bound.
func (m *model) steps(at nemesis.Trigger) (plan nemesis.Plan) {
	for n := 1; n <= m.Nodes && m.Clocks.LargestStep > 0; n++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: n}, By: m.Clocks.LargestStep}, Start: at})
	}
	return plan
}

// restart returns a scenario in which nodes of the holder's quorum crash when its last lease has just
// begun: then they have to stay away for longest, and under aof-everysec the key is not yet synced.
// The clocks step while they are away, so that they return as early as they can. The other client asks
// once more after their return.
func (m *model) restart(s Setting) scenarios.Scenario {
	faults := append(m.steps(s.leaseBegins(s.TTL/10)), m.crashes(s, s.leaseBegins(0))...)
	one := m.toTheEnd(s, "tune-restart", "nodes of the holder's quorum crash when its last lease has just begun", faults)
	one.Clients[1].Rounds, one.Clients[1].Think = 2, exactly(s.RestartDelay)
	one.Horizon += 2 * s.RestartDelay
	return one
}

// crashes takes down as many nodes of the holder's bare quorum as the other nodes lack to a quorum.
func (m *model) crashes(s Setting, at nemesis.Trigger) (plan nemesis.Plan) {
	for n := 1; n <= 2*m.quorum()-m.Nodes; n++ {
		plan = append(plan, m.crash(s, n, at))
	}
	return plan
}

// tooEarly returns a scenario that has to violate exclusion: restart, but with what it relies on
// broken. Nodes return before the holder's validity is over; if they may do so because they sync each
// key, they also keep no keys.
func (m *model) tooEarly(s Setting) scenarios.Scenario {
	forgetful := *m
	if !m.forgets() {
		forgetful.Crashes.Persistence = nemesis.Nothing
	}
	s.RestartDelay = m.tooShort(s)
	one := forgetful.restart(s)
	one.Name, one.Summary = "tune-too-early", m.describeTooEarly(s)
	one.Expect = scenarios.Expectations{checker.Backing: checker.Violated, checker.Lease: checker.Violated, checker.Section: checker.Unknown}
	return one
}

// tooShort returns a restart delay just below what is needed.
func (m *model) tooShort(s Setting) time.Duration {
	return max(m.Clocks.NeededRestartDelay(s.TTL, s.Allowance())-m.timeToGrant(s), 0).Truncate(time.Millisecond)
}

// asksFrom is when the other client of an edge trial begins to ask: early enough for a grant before the
// holder's validity ends.
func (m *model) asksFrom(s Setting) time.Duration {
	return max(min(m.nearEnd(s.lease()), s.lease()-s.Allowance()-m.timeToGrant(s)), 0)
}

// timeToGrant is enough for the reply that tells the holder of its grant, at which nodes crash, and for
// a few tries of another client.
func (m *model) timeToGrant(s Setting) time.Duration { return s.TTL/10 + 3*longest(m.RoundTrip) }

// describeRestart describes restart.
func (m *model) describeRestart(s Setting) string {
	what := "as edge, but nodes crash as soon as the last lease has begun"
	if needed := m.Clocks.NeededRestartDelay(s.TTL, s.Allowance()); m.forgets() && s.RestartDelay < needed {
		what += fmt.Sprintf(", and return after %v, though this TTL needs %v", s.RestartDelay, textfmt.Duration(needed))
	}
	return what
}

// describeTooEarly describes tooEarly.
func (m *model) describeTooEarly(s Setting) string {
	what := fmt.Sprintf("as restart, but nodes return after %v", m.tooShort(s))
	if !m.forgets() {
		return what + " without the keys that they had synced"
	}
	return what + fmt.Sprintf(", which is sooner than the needed %v by the time for another client's tries",
		textfmt.Duration(m.Clocks.NeededRestartDelay(s.TTL, s.Allowance())))
}

// nearEnd returns a time shortly before a lease can end. A restart delay that is too short shows early in
// a lease as well as late. Without one, keys end by their own clocks, at the end.
func (m *model) nearEnd(lease time.Duration) time.Duration {
	return max(time.Duration(float64(lease-m.Clocks.LargestStep)/(1+m.Clocks.rho())*0.97), 0)
}

// often returns a retry delay of about a thousandth of a time.
func often(within time.Duration) nemesis.Range {
	d := max(within/1000, 50*time.Microsecond)
	return nemesis.Range{Min: d / 2, Max: 3 * d / 2}
}

// minority returns the nodes outside a bare quorum.
func minority(k Known) (nodes []int) {
	for n := k.quorum() + 1; n <= k.Nodes; n++ {
		nodes = append(nodes, n)
	}
	return nodes
}

// slip is how holders are made late.
type slip struct {
	Setting
	pauses    Pauses         // instead of the known ones
	lengths   *nemesis.Table // of the pauses, if they are drawn
	longest   time.Duration  // hold
	predicted float64        // upper bound of the share of runs that violate effect exclusion
}

// slipIntervals bounds a hold of a slips run that is extended, in TTLs and extension intervals.
// A client asks all the time meanwhile: with holds of an hour, a run would take minutes.
const slipIntervals = 20

// longestSlip returns the longest hold of a slips run with a setting.
func (s Setting) longestSlip() time.Duration {
	if s.ExtendEvery == 0 {
		return nemesis.MaxDuration
	}
	return slipIntervals * (s.TTL + s.ExtendEvery)
}

// withHolds returns the model with holds of at most a duration.
func (m model) withHolds(longest time.Duration) *model {
	m.holds = slices.Clone(m.holds)
	for i := range m.holds {
		m.holds[i].value = min(m.holds[i].value, longest)
	}
	m.hold = mean(m.holds)
	return &m
}

// aimed is the share of runs that should violate effect exclusion.
const aimed = 0.25

// slip returns a test of the model of lateness: pauses so frequent that one falls into a hold
// or an interval, and a TTL short enough that some are too long for it. A bounded pause is
// tried as it is. With a fence, pauses outlast every lease. It returns false if no pause is
// too long for any TTL.
func (m *model) slip(w Weighed) (slip, bool) {
	s, longest := w.Setting, w.longestSlip()
	switch {
	case m.FenceChecked:
		bound := 2 * s.TTL
		return slip{Setting: s, pauses: Pauses{Bound: &bound}, longest: longest}, true
	case m.Pauses.Bound != nil:
		return slip{Setting: s, pauses: m.Pauses, longest: longest, predicted: w.Risk.Pauses}, true
	case m.Pauses.Unbounded:
		return slip{}, false
	}
	found := slip{Setting: s, pauses: m.Pauses, lengths: m.tables.pause, longest: longest}
	fast := m.withHolds(longest)
	found.pauses.Every = min(m.Pauses.Every, time.Duration(fast.hold))
	fast.late.pauses = found.pauses
	for _, ttl := range slices.Backward(preferredNumbers(leastTTL/10, s.TTL, time.Millisecond)) {
		short := s.shortened(m.Clocks, ttl)
		if !short.possible() || found.predicted >= aimed {
			break
		}
		found.Setting, found.predicted = short, fast.lateHolder(short)
	}
	return found, found.predicted > 0.01
}

// shortened returns the setting with another TTL, and an extension interval of the same share.
func (s Setting) shortened(c Clocks, ttl time.Duration) Setting {
	share := float64(ttl) / float64(s.TTL)
	s.TTL, s.DriftFactor, s.Margin = ttl, c.DriftFactor(ttl), ttl/20
	s.ExtendEvery = time.Duration(float64(s.ExtendEvery) * share)
	return s
}

// slips draws a scenario with a paused holder and a client that wants the lock all the time.
func (m *model) slips(s slip, d rng) scenarios.Scenario {
	hold := min(d.of(m.tables.hold), s.longest)
	setting := m.world(nemesis.Requests)
	setting.Plan = append(m.rates(1), s.plan(d, hold)...)
	setting.Horizon = 10*(hold+s.TTL) + time.Minute
	for _, f := range setting.Plan {
		if f.End != nil {
			setting.Horizon += *f.End.After
		}
	}
	lock := s.Lock()
	lock.Retry = often(s.TTL)
	client := scenarios.Client{Workload: "section", Resource: resource, Rounds: 1, Fence: m.FenceChecked}
	holder, rival := client, client
	holder.Work = exactly(hold)
	rival.Start = exactly(longest(m.RoundTrip) + time.Millisecond)
	expect := scenarios.Expectations{checker.Lease: checker.Holds, checker.Section: checker.Unknown, checker.Effect: checker.Unknown}
	if s.predicted == 0 {
		expect[checker.Effect] = checker.Holds
	}
	return scenarios.Scenario{
		Name: "tune-slips", Summary: fmt.Sprintf("a holder is paused; at most %.3g of the runs violate effect exclusion", s.predicted),
		Lock: lock, Setting: setting, Clients: []scenarios.Client{holder, rival}, Expect: expect,
	}
}

// plan draws the pauses of one holder. In the simulator, work continues during pauses; in the
// model it does not. So without an extension all pauses are one, before the write. With one
// they stay where they are, since the timer of an extension continues as well.
func (s slip) plan(d rng, hold time.Duration) (plan nemesis.Plan) {
	pause := func(start nemesis.Trigger, length time.Duration) {
		if length > 0 {
			plan = append(plan, nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: start, End: nemesis.After(length)})
		}
	}
	beforeWrite := nemesis.When(1, env.StepBeforeWrite, 0)
	if s.pauses.Bound != nil {
		if s.ExtendEvery > 0 {
			beforeWrite = nemesis.When(1, env.StepGranted, d.upTo(hold))
		}
		pause(beforeWrite, *s.pauses.Bound)
		return plan
	}
	stood := time.Duration(0)
	for ran := d.wait(s.pauses.Every); ran < hold && len(plan) < maxFaults; ran += 1 + d.wait(s.pauses.Every) {
		length := d.of(s.lengths)
		if s.ExtendEvery > 0 {
			pause(nemesis.When(1, env.StepGranted, ran+stood), length)
		}
		stood += length
	}
	if s.ExtendEvery == 0 {
		pause(beforeWrite, stood)
	}
	return plan
}

// scout draws a scenario that tests a timing, with a TTL that does not matter and perfect
// clocks.
func (m *model) scout(p timing, d rng, rounds int) scenarios.Scenario {
	factor := min(1, 10*float64(p.retryMax)/math.Max(1, float64(quantile(m.Hold, 0.5))))
	ttl := roundUp(4*longest(m.Hold)+20*p.timeout, time.Second)
	s := Setting{TTL: ttl, DriftFactor: leastDrift, NodeTimeout: p.timeout, RetryMin: p.retryMin, RetryMax: p.retryMax, Margin: ttl / 20}
	return m.everyday(s, d, rounds, false, factor)
}
