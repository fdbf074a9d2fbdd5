package series

import (
	"fmt"
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const (
	grain      = 1 * ms             // of expiry in Redis
	driftRetry = 800 * us           // between two tries of the rival
	driftStep  = 2*way + driftRetry // from one try to the next
)

// DriftReach is how far below [NeededAllowance] the allowance has to be, as a share of
// the TTL, for every run to violate exclusion.
const DriftReach = float64(2*way+grain+driftStep) / float64(ttl)

// wrong is a kind of clock error.
type wrong struct {
	id, name string

	// The rates of the nodes' and the holder's clocks, in ppm, and a step of the nodes' clocks, for
	// so many parts per million.
	fast, slow func(ppm int64) int64
	by         func(ppm int64) time.Duration
}

func ofPPM(ppm int64) float64 { return float64(ppm) / 1e6 }

func itself(ppm int64) int64 { return ppm }

func none(int64) int64 { return 0 }

func noStep(int64) time.Duration { return 0 }

func stepOf(ppm int64) time.Duration { return ttl / 1e6 * time.Duration(ppm) }

// wrongs are the kinds of errors, each a curve of its own.
var wrongs = []wrong{
	{"holder", "the holder's clock is slow", none, itself, noStep},
	{"nodes", "the nodes' clocks are fast", itself, none, noStep},
	{"both", "the nodes' clocks are fast and the holder's is slow, by as much", itself, itself, noStep},
	{"step", "the nodes' clocks step forward", none, none, stepOf},
}

// Drift is the probability that a lease outlives its keys, by clock error and allowance: 15 by
// 12 points for each kind of error. [Granted] is the formula.
func Drift() sweep.Sweep {
	return swept("drift", "a holder believes in its lease for longer than the nodes do", func(w wrong, add func(ppm, percent int64)) {
		for percent := range int64(12) {
			for ppm := int64(0); ppm <= 140_000; ppm += 10_000 {
				add(ppm, percent)
			}
		}
	})
}

// DriftEdge is a cut through [Drift] across its line, at a drift factor of 1 %: from 0.1 % of
// the TTL before it to 0.4 % beyond. Most points of the map are 0 or 1; these are where the
// probability changes.
func DriftEdge() sweep.Sweep {
	return swept("drift-edge", "a holder believes in its lease for longer than the nodes do, about where a drift factor of 1 % begins to fall short", func(w wrong, add func(ppm, percent int64)) {
		const percent = 1
		covered := allowance(ttl, float64(percent)/100).Seconds() / ttl.Seconds()
		line := int64(sort.Search(1e6, func(ppm int) bool { return w.needed(int64(ppm)) > covered }))
		for ppm := line - 1000; ppm <= line+4000; ppm += 250 {
			add(ppm, percent)
		}
	})
}

// swept returns a sweep over points of each kind of error, by ppm and by drift factor in
// percent.
func swept(name, summary string, over func(w wrong, add func(ppm, percent int64))) sweep.Sweep {
	s := sweep.Sweep{
		Name:     name,
		Summary:  summary,
		Property: checker.Lease,
		Params: []sweep.Param{
			{Name: "clock_error", Summary: "how wrong clocks are: the error of their rate, or a step as a share of the TTL"},
			{Name: "allowance", Unit: "TTL", Summary: "what the lock sets aside: drift factor and 2 ms"},
		},
	}
	for _, w := range wrongs {
		over(w, func(ppm, percent int64) {
			p := w.point(ppm, percent)
			p.Scenario.Name = name + "-" + p.Scenario.Name
			s.Points = append(s.Points, p)
		})
	}
	return s
}

// driftFormula is the formula of all curves of [Drift] and [DriftEdge]: [Granted].
const driftFormula = "P(u + v < (T − a)/(1 − ρc) − (T − s)/(1 + ρn) − 2ℓ): TTL T, allowance a, holder's clock slow by ρc, nodes' fast by ρn or ahead by s, one way ℓ, u and v uniform up to 1 ms"

func (w wrong) needed(ppm int64) float64 {
	return NeededAllowance(ofPPM(w.fast(ppm)), ofPPM(w.slow(ppm))) + NeededForStep(w.by(ppm).Seconds()/ttl.Seconds())
}

// point returns the point of a clock error and a drift factor in percent.
func (w wrong) point(ppm, percent int64) sweep.Point {
	overlap := Overlap(ttl, allowance(ttl, float64(percent)/100), ofPPM(w.fast(ppm)), ofPPM(w.slow(ppm)), w.by(ppm))
	grain := time.Duration(float64(grain) / (1 + ofPPM(w.fast(ppm)))) // a fast clock's
	return sweep.Point{
		Curve:     w.name,
		At:        []float64{ofPPM(ppm), allowance(ttl, float64(percent)/100).Seconds() / ttl.Seconds()},
		Scenario:  w.scenario(ppm, percent),
		Predicted: new(Granted(overlap, way, grain, driftStep)),
	}
}

// scenario has a holder, and a rival that asks from just before the end of the holder's keys
// on, since earlier attempts would be refused. The holder starts uniformly within a
// millisecond of the nodes' clocks, the rival within one of its retries.
func (w wrong) scenario(ppm, percent int64) scenarios.Scenario {
	fast, slow := ofPPM(w.fast(ppm)), ofPPM(w.slow(ppm))
	starts := time.Duration(float64(grain) / (1 + fast) * (1 - slow)) // on the holder's clock
	expires := way + time.Duration(float64(ttl-w.by(ppm))/(1+fast))
	asks := expires - way - 2*driftStep
	redlock, setting := lock(exactly(driftRetry)), world(nemesis.Nothing, exactly(way), 5*ttl)
	redlock.DriftFactor, setting.Plan = float64(percent)/100, w.plan(ppm)
	return scenarios.Scenario{
		Name:    fmt.Sprintf("%s-%d-%d", w.id, ppm, percent),
		Summary: fmt.Sprintf("%s, by %v of the TTL, and the drift factor is %v", w.name, ofPPM(ppm), ofPPM(10_000*percent)),
		Lock:    redlock,
		Clients: []scenarios.Client{
			client(between(0, starts-1), 2*ttl),
			client(between(asks, asks+driftStep-1), 1*ms),
		},
		Setting: setting,
	}
}

// plan returns the clock faults.
func (w wrong) plan(ppm int64) (plan nemesis.Plan) {
	plan = clockRate(nemesis.Machine{Client: 1}, -w.slow(ppm))
	for n := 1; n <= nodes; n++ {
		m := nemesis.Machine{Node: n}
		plan = append(plan, clockRate(m, w.fast(ppm))...)
		if by := w.by(ppm); by != 0 {
			plan = append(plan, nemesis.Fault{Action: &nemesis.ClockJump{Machine: m, By: by}, Start: nemesis.At(ttl / 2)})
		}
	}
	return plan
}

// clockRate makes a clock wrong by some ppm from the start on, unless they are 0.
func clockRate(m nemesis.Machine, ppm int64) nemesis.Plan {
	if ppm == 0 {
		return nil
	}
	return nemesis.Plan{{Action: &nemesis.ClockRate{Machine: m, PPM: ppm}, Start: nemesis.At(0)}}
}
