package scenarios

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
)

var driftSeries = Series{
	Name:    "clock-drift",
	Remark:  "The allowance has to cover both clocks. With nodes fast by ρn and the holder slow by ρc it must be at least TTL × (ρn + ρc)/(1 + ρn), up to the latency: 1 % of the TTL does not cover 1 % on both sides.",
	Summary: "nodes run fast and the holder slow, by as much",
	Claims: []Claim{
		fromKleppmann("unsafe near the TTL", onSynchrony), fromRedis("safe: allowance", "Is the Algorithm Asynchronous?"),
		said("Gray and Cheriton", 1989, "short terms suffice; a fast server or a slow client breaks it", `"Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache Consistency"`),
		said("A. J. J. Davis", 2026, "reliable with a margin a little over 1/500", `timers in distributed algorithms, section "Leader Leases Rely on Timers"`),
	},
	Varied:   "rate error of either side",
	Property: checker.Lease,
	Formula:  fmt.Sprintf("%.0f ppm on either side: allowance/TTL ≥ (ρn + ρc)/(1 + ρn)", driftLimit(promptLock)),
	Points: rates(driftPoint,
		0, 2_000, 4_000, 5_000, 5_500, 6_000, 6_250, 6_500, 6_750, 7_000, 7_250, 7_500, 8_000, 9_000,
		10_000, 20_000, 50_000, 100_000, 200_000),
}

var slewSeries = Series{
	Name:     "clock-slew",
	Summary:  "the holder's clocks are slewed back without a step",
	Claims:   []Claim{fromKleppmann("doubtful", onSynchrony), fromAntirez("safe")},
	Varied:   "rate of the slew",
	Property: checker.Lease,
	Formula:  fmt.Sprintf("%.0f ppm: allowance/TTL ≥ ρc", 1e6*allowed(promptLock)),
	Points: rates(slewPoint,
		500, 5_000, 10_000, 12_000, 12_500, 13_000, 13_500, 14_000, 15_000, 20_000, 50_000, 83_333, 100_000),
}

// allowed is the share of the TTL that a lock sets aside.
func allowed(l Lock) float64 { return l.Allowance(l.TTL).Seconds() / l.TTL.Seconds() }

// driftLimit is the largest error ρ of either side, in ppm, that the allowance
// covers: a = 2ρ/(1 + ρ).
func driftLimit(l Lock) float64 {
	a := allowed(l)
	return 1e6 * a / (2 - a)
}

// rates makes a series of clock rates.
func rates(point func(ppm int64) Scenario, ppm ...int64) []Point {
	points := make([]Point, len(ppm))
	for i, p := range ppm {
		points[i] = Point{Value: fmt.Sprintf("%d ppm", p), Scenario: point(p)}
	}
	return points
}

func driftPoint(ppm int64) Scenario {
	return Scenario{
		Name:    fmt.Sprintf("clock-drift-at-%dppm", ppm),
		Summary: fmt.Sprintf("nodes run %d ppm fast and the holder %d ppm slow", ppm, ppm),
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, drift(ppm)...),
		Bounds:  quickBounds,
		Expect:  outrun(promptLock, ppm, ppm),
	}
}

func slewPoint(ppm int64) Scenario {
	return Scenario{
		Name:    fmt.Sprintf("clock-slew-at-%dppm", ppm),
		Summary: fmt.Sprintf("the holder's clocks are slewed back by a second, at %d ppm", ppm),
		Lock:    promptLock,
		Clients: keepers,
		Setting: five(5*time.Second, nemesis.Fault{
			Action: &nemesis.ClockSlew{Machine: nemesis.Machine{Client: 1}, By: -time.Second, PPM: ppm},
			Start:  nemesis.At(0),
		}),
		Bounds: quickBounds,
		Expect: outrun(promptLock, 0, ppm),
	}
}

// drift makes every node's clock fast and client 1's slow.
func drift(ppm int64) []nemesis.Fault {
	if ppm == 0 {
		return nil
	}
	plan := []nemesis.Fault{{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -ppm}, Start: nemesis.At(0)}}
	for n := 1; n <= 5; n++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: n}, PPM: ppm}, Start: nemesis.At(0)})
	}
	return plan
}

// outrun returns the expected verdicts for a holder that keeps the lock to the end, when
// nodes run fast and it runs slow, in ppm. Its validity ends, on the ground
// clock, (TTL − allowance) / (1 − slow) after the first request was sent, and
// its keys expire TTL / (1 + fast) after they were set. So exclusion holds if
//
//	allowance / TTL ≥ (fast + slow) / (1 + fast)
//
// Slightly beyond that limit a rival still comes too late, because the key was set later than the
// request was sent, lives to the end of its millisecond, and has to be requested again. Where that
// covers the difference in most runs, any verdict is expected.
func outrun(l Lock, fast, slow int64) Expectations {
	const (
		million = 1_000_000
		reach   = 2200 * us
	)
	ends := validity(l) * million / time.Duration(million-slow)
	expires := l.TTL * million / time.Duration(million+fast)
	switch {
	case ends <= expires:
		return expect(holds, holds, na, na)
	case ends > expires+reach:
		return expect(violated, violated, na, na)
	}
	return open(expect(na, na, na, na))
}
