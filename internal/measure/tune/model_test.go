package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// late is a question whose holders are late if a pause begins within a hold, which can be reckoned by hand:
// garbage collection of 2 s every 10 s, and a migration of 3 s every day.
func late() (*model, Setting) {
	m := newModel(Known{
		Nodes: 3, RoundTrip: uniform(ms, ms), Hold: uniform(500*ms, 500*ms), Contention: Contention{Clients: 2},
		Pauses: []Pause{{10 * time.Second, uniform(2*time.Second, 2*time.Second)}, {24 * time.Hour, uniform(3*time.Second, 3*time.Second)}},
	})
	return m, Setting{TTL: time.Second, DriftFactor: leastDrift, NodeTimeout: 5 * ms, RetryMin: 10 * ms, RetryMax: 30 * ms, Margin: 50 * ms}
}

// By hand: a lease counts from the request, so a pause harms in 500 ms of work, the round trip of a quorum and two of
// the resource, 503 ms. 1 − e^−(0.503/10 + 0.503/86400) = 0.0490614. The slack, 1 s − 12 ms − 500 ms, is shorter than
// both kinds of pauses.
func TestLateHoldersByHand(t *testing.T) {
	m, s := late()
	if got := m.lateHolder(s); math.Abs(got-0.0490614) > 1e-7 {
		t.Errorf("a share of %.7f is late, want 0.0490614", got)
	}
	m.Pauses = m.Pauses[1:] // 0.503/86400
	if got := m.lateHolder(s); math.Abs(got-5.822e-6) > 1e-9 {
		t.Errorf("with the migration alone %.4g are late, want 5.822e-06", got)
	}
	if s.TTL = 5 * time.Second; m.lateHolder(s) > 1e-10 {
		t.Errorf("%.4g are late, though two migrations in a hold are rarer", m.lateHolder(s))
	}
	far := Known{Nodes: 3, Zones: []Zone{{2, uniform(ms, ms)}, {1, uniform(0, time.Second)}}, Hold: m.Hold, Contention: m.Contention, Pauses: m.Pauses}
	if s.TTL, s.NodeTimeout = 2*time.Second, time.Second; math.Abs(newModel(far).lateHolder(s)-5.822e-6) > 1e-9 {
		t.Errorf("with a far node, for which no quorum waits, %.4g are late, want 5.822e-06", newModel(far).lateHolder(s))
	}
	s.NodeTimeout = 5 * ms
	// Extended each 100 ms: 5 windows of 102 ms, one of them with the resource's 2 ms. (4×0.102 + 0.104)/86400
	if s.TTL, s.ExtendEvery = 300*ms, 100*ms; math.Abs(m.lateHolder(s)-5.926e-6) > 1e-9 {
		t.Errorf("with extensions %.4g are late, want 5.926e-06", m.lateHolder(s))
	}
	// A lease of 295 ms that is extended after 100 ms has room for a pause of 185 ms, and not for one of 200 ms.
	for pause, want := range map[time.Duration]float64{185 * ms: 0, 200 * ms: 5.926e-6} {
		m.Pauses[0].Length = uniform(pause, pause).ready()
		if got := m.lateHolder(s); math.Abs(got-want) > 1e-9 {
			t.Errorf("with pauses of %v and extensions %.4g are late, want %.4g", pause, got, want)
		}
	}
}

// The bound is not below what an independent Monte Carlo has: of pauses that just outlast the lease, and of those that
// begin in a rare long round trip.
func TestLateHoldersAreBounded(t *testing.T) {
	just := Known{Nodes: 3, RoundTrip: uniform(ms/2, ms/2), Hold: uniform(100*ms, 100*ms), Pauses: []Pause{{time.Hour, uniform(2*time.Second, 2*time.Second)}}}
	rare := Known{Nodes: 3, RoundTrip: percentiles(ms, 3*ms, 1500*ms), Hold: uniform(10*ms, 10*ms), Pauses: []Pause{{10 * time.Second, uniform(1200*ms, 1200*ms)}}}
	for want, m := range map[float64]*model{2.78e-5: newModel(just), 6.65e-5: newModel(rare)} {
		ttl := map[float64]time.Duration{2.78e-5: 2124 * ms, 6.65e-5: 2000 * ms}[want]
		if got := m.lateHolder(Setting{TTL: ttl, DriftFactor: leastDrift, NodeTimeout: 50 * ms}); got < want || got > 1.5*want {
			t.Errorf("at most %.3g are late, and the Monte Carlo has %.3g", got, want)
		}
	}
}

// As many holders write late in the simulator as the model says, which has an upper bound, with extensions and without.
func TestLateHoldersInTheSimulator(t *testing.T) {
	const runs = 800
	for _, every := range []time.Duration{0, 100 * ms} {
		m, s := late()
		if s.ExtendEvery = every; every > 0 {
			s.TTL = 300 * ms
		}
		b := batch{simulated.Backend(), 1, func() {}}
		tally, _, err := b.run(t.Context(), runs, func(d rng) scenarios.Scenario {
			setting, stood := m.world(nemesis.Requests), time.Duration(0)
			for _, p := range d.stops(m.Pauses, m.Hold.Max) {
				stood += p.length
				begin := nemesis.When(1, env.StepGranted, p.ran)
				if every == 0 { // in the simulator work goes on during a pause, so the pauses come before the write
					begin = nemesis.When(1, env.StepBeforeWrite, 0)
				}
				setting.Plan = nemesis.Plan{{Action: &nemesis.Pause{Client: 1}, Start: begin, End: nemesis.After(stood)}}
			}
			setting.Horizon = time.Minute + stood
			holder := scenarios.Client{Workload: "section", Resource: resource, Rounds: 1}
			rival := holder
			holder.Work, rival.Start = exactly(m.Hold.Max), exactly(2*ms)
			return scenarios.Scenario{
				Name: "late", Summary: "late", Lock: s.Lock(), Setting: setting, Clients: []scenarios.Client{holder, rival},
				Expect: scenarios.Expectations{checker.Lease: checker.Holds, checker.Section: checker.Unknown, checker.Effect: checker.Unknown},
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		rate, most := tally.Rate(checker.Effect), m.lateHolder(s)
		low, high := rate.Wilson()
		if rate.N != runs || low > most || high < 0.8*most {
			t.Errorf("extended every %v: %d of %d violate effect exclusion, a share of %.3f to %.3f; the model has %.4f", every, rate.K, rate.N, low, high, most)
		}
		t.Logf("extended every %v: %.3f to %.3f at 95 %%, the model has %.4f", every, low, high, most)
	}
}

// The round trip of a quorum is the k-th smallest of the nodes' own: by hand for constant ones, and as drawn.
func TestQuorumOfZones(t *testing.T) {
	zones := func(list ...Zone) *model {
		k := Known{Zones: list}
		for _, z := range list {
			k.Nodes += z.Nodes
		}
		return newModel(k)
	}
	for want, m := range map[time.Duration]*model{
		10 * ms: zones(Zone{1, uniform(100*ms, 100*ms)}, Zone{1, uniform(ms, ms)}, Zone{1, uniform(10*ms, 10*ms)}),
		ms:      zones(Zone{3, uniform(ms, ms)}, Zone{2, uniform(80*ms, 80*ms)}),
		80 * ms: zones(Zone{2, uniform(ms, ms)}, Zone{3, uniform(80*ms, 80*ms)}),
	} {
		if got := m.quorumTrip(0.5); got != want || m.pace.Max != want {
			t.Errorf("a quorum of %v answers after %v, want %v", m.zones, got, want)
		}
	}
	near := zones(Zone{2, uniform(ms, ms)}, Zone{2, uniform(20*ms, 20*ms)}, Zone{1, uniform(80*ms, 80*ms)})
	if p50, p99 := near.quorumWithout(0); p50 != 80*ms || p99 != 80*ms {
		t.Errorf("without the nearest zone a quorum answers after %v, %v", p50, p99)
	}
	m := zones(Zone{2, percentiles(ms, 4*ms, 50*ms)}, Zone{2, percentiles(3*ms, 9*ms, 80*ms)}, Zone{1, percentiles(20*ms, 50*ms, 200*ms)})
	d, seen := rng{rand.New(rand.NewPCG(1, 2))}, []time.Duration{}
	for range 100_000 {
		var trips []time.Duration
		for _, node := range m.nodes {
			trips = append(trips, d.of(node))
		}
		slices.Sort(trips)
		seen = append(seen, trips[2])
	}
	slices.Sort(seen)
	for _, p := range []float64{0.1, 0.5, 0.9, 0.99} {
		if got, want := m.quorumTrip(p), seen[int(p*100_000)]; math.Abs(float64(got-want)) > 0.03*float64(want) {
			t.Errorf("at %v a quorum answers after %v, drawn after %v", p, got, want)
		}
	}
}

// The answer about fences: which, how often holders are late, and what a fence would gain.
func TestFencing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Question)
		want   []string
	}{
		"goal met":   {func(*Question) {}, []string{"Not for your goal of 1 violation in 10⁹ grants", "32 grants a second, the most for these clients, that is one late holder in"}},
		"no goal":    {func(q *Question) { q.Want.ViolationsPerBillion = nil }, []string{"Yes, if a late write costs more than a fence", "two round trips of the quorum"}},
		"no pauses":  {func(q *Question) { q.Pauses, q.Want.ViolationsPerBillion = nil, nil }, []string{"Yes, unless a double write does no lasting harm", "a lock to save work"}},
		"checked":    {func(q *Question) { q.FenceChecked = true }, []string{"You have it", "Without a fence each might overwrite"}},
		"rare pause": {func(q *Question) { q.Pauses = []Pause{{time.Hour, percentiles(10*ms, 20*ms, 2*time.Second)}} }, []string{"With fences a TTL of ", "blocks the others for"}},
		"longer TTL": {func(q *Question) {
			q.Want.ViolationsPerBillion, q.Pauses = nil, []Pause{{24 * time.Hour, uniform(time.Second, time.Second)}}
		}, []string{"Without a fence, a TTL of 1.5s makes it less than one late holder in", "State want.violations_per_billion"}},
	} {
		q := small()
		q.Clocks = Clocks{RatePPM: 500}
		c.change(&q)
		m, scouted := newModel(q.Known), map[timing]time.Duration{}
		all := m.weigh(scouted)
		ranked := q.Want.ranked(all)
		if len(ranked) == 0 {
			t.Errorf("%s: nothing to recommend: %s", name, m.refusal(q.Want, all))
			continue
		}
		got := m.fencing(q.Want, ranked[0], all, paretoFront(all))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
	}
}
