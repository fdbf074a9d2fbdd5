package series

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// The rules by which a restart delay is chosen: [SafeDelay], [ClockRule] and [DriftRule].
const (
	ExactRule   = "(1 + ρr)(T − a)/(1 − ρc)"
	ByRestart   = "T (1 + ρr)"
	ByDrift     = "T (1 + d)"
	oneTTL      = "one TTL"
	ofExtension = "an extension by two TTLs"
)

// RestartBoundary is where a restart delay becomes safe, in the worst case, over a grid of
// clock errors and drift factors. The delay is counted by the node's own clock, as a share of
// the longest TTL, and is located to 0.1 %.
//
// The worst crash comes just after the vote, when the whole lease is still to come. So the
// delay counts from the start of the lease, but for the way of the request to the node, and
// the boundary lies below [SafeDelay] by that way and by the rival's grant. The prediction is
//
//	SafeDelay − (1 + ρr)(way + ℓ)
//
// which with perfect clocks is T − a − ℓ, counted from the request. Nothing is random in these
// scenarios, so one run is enough.
func RestartBoundary() sweep.Sweep {
	s := sweep.Sweep{
		Name:     "restart-boundary",
		Summary:  "how long a node must stay away in the worst case, with clocks that are wrong, and what rules of thumb say",
		Property: checker.Lease,
		Runs:     1, // nothing is drawn that matters
		Params: []sweep.Param{
			{Name: "restart_delay", Unit: "TTL", Summary: "from the crash to the return, as the node counts it; of the longest TTL"},
			{Name: "holder_slow", Summary: "how much the holder's clock is slow, ρc"},
			{Name: "delay_fast", Summary: "how much the clock is fast that counts the delay, ρr"},
			{Name: "drift_factor", Summary: "the lock's drift factor, d"},
		},
	}
	for _, longest := range []time.Duration{ttl, 2 * ttl} {
		for _, d := range []float64{0.01, 0.05, 0.1} {
			for _, slow := range rates {
				for _, fast := range rates {
					s.Boundaries = append(s.Boundaries, worst{longest, d, slow, fast}.boundary())
				}
			}
		}
	}
	return s
}

// boundaryFormula is the formula of all curves of [RestartBoundary].
const boundaryFormula = "(1 + ρr)((T − a)/(1 − ρc) − w − ℓ): TTL T, allowance a, one way w, latency ℓ of the next grant"

// rates are clock errors, in ppm.
var rates = []int64{0, 10_000, 50_000, 100_000}

// worst is a crash just after a vote.
type worst struct {
	longest    time.Duration // the TTL that the vote was for; above ttl: an extension
	factor     float64
	slow, fast int64 // ppm
}

const (
	// after is the time from a request's arrival to the crash of its node, and from the node's
	// return to the rival's request. The formula leaves the second out, so that its result is
	// safe however nanoseconds are rounded.
	after = 1 * us

	// returns is ℓ: the rival asks at once.
	returns = 2 * way

	// extendAfter is when the holder extends, after the grant.
	extendAfter = 100 * ms
)

func (w worst) boundary() sweep.Boundary {
	slow, fast := ofPPM(w.slow), ofPPM(w.fast)
	safe := SafeDelay(w.longest, allowance(w.longest, w.factor), slow, fast)
	late := time.Duration((1 + fast) * float64(way+after+returns))
	of := func(d time.Duration) float64 { return d.Seconds() / w.longest.Seconds() }
	return sweep.Boundary{
		Curve:    w.name(),
		At:       []float64{slow, fast, w.factor},
		Scenario: w.scenario,
		Low:      0.5, High: 1.5, Within: 0.001,
		Predicted: of(safe - late),
		Rules: map[string]float64{
			ExactRule: of(safe),
			ByRestart: of(ClockRule(w.longest, fast)),
			ByDrift:   of(DriftRule(w.longest, w.factor)),
		},
	}
}

func (w worst) name() string {
	if w.longest > ttl {
		return ofExtension
	}
	return oneTTL
}

// scenario returns the run in which the node's clock counts x of the longest TTL.
func (w worst) scenario(x float64) scenarios.Scenario {
	delay := time.Duration(math.Round(x * float64(w.longest)))
	crash := nemesis.When(1, env.StepBeforeSend, way+after)
	asked := time.Duration(0) // when the lease was asked for, in true time
	holder := client(nemesis.Range{}, 2*w.longest)
	if w.longest > ttl {
		crash.Step = nemesis.StepName(env.StepExtend.String())
		asked = 2*way + onGround(extendAfter, -w.slow)
		holder.ExtendEvery, holder.ExtendTTL = extendAfter, exactly(w.longest)
	}
	back := asked + way + after + onGround(delay, w.fast) + after
	s := scenarios.Scenario{
		Name: fmt.Sprintf("restart-boundary-%d-%d-%d-%.0f-%d", w.longest/ttl, w.slow, w.fast, 1000*w.factor, delay/us),
		Summary: fmt.Sprintf("a node crashes just after its vote for a lease of %v and counts %v; its clock is %d ppm fast, the holder's %d ppm slow",
			w.longest, delay, w.fast, w.slow),
		Lock: lock(exactly(pause)),
		Clients: []scenarios.Client{
			holder,
			client(exactly(back), 1*ms),
		},
		Setting: world(nemesis.Nothing, exactly(way), hour),
	}
	s.Lock.DriftFactor = w.factor
	s.Plan = slices.Concat(nemesis.Plan{cutOff(), {Action: &nemesis.Crash{Node: 3, RestartDelay: delay}, Start: crash}},
		clockRate(nemesis.Machine{Client: 1}, -w.slow), clockRate(nemesis.Machine{Node: 3}, w.fast))
	return s
}

// onGround returns how long a clock that runs fast by ppm takes to count a time.
func onGround(counted time.Duration, ppm int64) time.Duration {
	return time.Duration(math.Ceil(float64(counted) / (1 + ofPPM(ppm))))
}
