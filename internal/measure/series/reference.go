package series

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// RestartDelayReference has twenty points of [RestartDelay] for real servers: a few delays of
// each kind, far enough from where the verdict changes that a machine that is late by
// [slipMargin] does not matter. A run takes seconds there, so each has to have a verdict: the
// crash comes at a fixed time of the validity, the rival tries all the time, and the
// prediction is 0 or 1. In rare cases a loss of power shows nothing, if the one sync of that
// second comes between the vote and the loss.
func RestartDelayReference() sweep.Sweep {
	s := sweep.Sweep{
		Name:     "restart-delay-reference",
		Summary:  "a node comes back before a lease has ended that it voted for, or after, on real servers",
		Property: checker.Lease,
		Params:   params,
	}
	for _, f := range fixtures {
		for _, d := range f.delays {
			s.Points = append(s.Points, f.point(d))
		}
	}
	return s
}

// fixture is nodes that crash at a fixed time of a lease.
type fixture struct {
	id, name string
	every    time.Duration // between two extensions; 0: none
	bare     bool
	kept     nemesis.Persistence
	power    bool // they lose power, not only the process
	nodes    []int
	at       nemesis.Trigger
	left     time.Duration   // of the validity, at the crash; 0: the nodes lose nothing that matters
	delays   []time.Duration // until the nodes return
}

// atGrant and atExtension are instants after client 1 was granted the lock, or has extended
// it.
func atGrant(d time.Duration) nemesis.Trigger { return nemesis.When(1, env.StepGranted, d) }

func atExtension(d time.Duration) nemesis.Trigger { return nemesis.When(1, env.StepExtended, d) }

var fixtures = []fixture{
	{"plain", "plain, no persistence", 0, true, nemesis.Nothing, false, []int{3}, atGrant(300 * ms), life - 300*ms,
		[]time.Duration{100 * ms, 200 * ms, 300 * ms, 400 * ms, 850 * ms, 900 * ms, 1 * ttl, 1300 * ms}},
	{"extended", "extended, no persistence", every, true, nemesis.Nothing, false, []int{3}, atExtension(100 * ms), life - 100*ms,
		[]time.Duration{200 * ms, 500 * ms, 1050 * ms, 1200 * ms}},
	{"everysec-crash", "plain, aof-everysec, crash", 0, true, nemesis.EverySecond, false, []int{3}, atGrant(300 * ms), 0,
		[]time.Duration{200 * ms, 500 * ms}},
	{"everysec", "plain, aof-everysec, loss of power", 0, true, nemesis.EverySecond, true, []int{3}, atGrant(20 * ms), life - 20*ms,
		[]time.Duration{200 * ms, 500 * ms, 1200 * ms}},
	{"always", "plain, aof-always, loss of power", 0, true, nemesis.Always, true, []int{3}, atGrant(300 * ms), 0,
		[]time.Duration{200 * ms}},
	{"nodes-2", "plain, all nodes reached, 2 crash", 0, false, nemesis.Nothing, false, []int{1, 2}, atGrant(300 * ms), 0,
		[]time.Duration{200 * ms}},
	{"nodes-3", "plain, all nodes reached, 3 crash", 0, false, nemesis.Nothing, false, []int{1, 2, 3}, atGrant(300 * ms), life - 300*ms,
		[]time.Duration{200 * ms}},
}

// slipMargin is how late a real machine may be. Between a return and the end of a validity are
// at least three times as much.
const slipMargin = 50 * ms

func (f fixture) point(away time.Duration) sweep.Point {
	s := scenarios.Scenario{
		Name:    fmt.Sprintf("restart-reference-%s-%d", f.id, away/ms),
		Summary: fmt.Sprintf("%s: back after %v, at a fixed time of the lease of %v", f.name, away, ttl),
		Lock:    lock(between(5*ms, 15*ms)),
		Clients: []scenarios.Client{
			client(nemesis.Range{}, 2*ttl),
			client(exactly(150*ms), 30*ms),
		},
		Setting:    world(f.kept, between(200*us, 1*ms), hour),
		SlipMargin: slipMargin,
	}
	s.Clients[0].ExtendEvery = f.every
	if f.bare {
		s.Plan = append(s.Plan, cutOff())
	}
	for _, n := range f.nodes {
		s.Plan = append(s.Plan, nemesis.Fault{Action: f.loss(n), Start: f.at, End: nemesis.After(away)})
	}
	predicted, verdict := 0.0, checker.Holds
	if away < f.left {
		predicted, verdict = 1, checker.Violated
	}
	s.Expect = scenarios.Expectations{checker.Backing: verdict, checker.Lease: verdict, checker.Section: verdict}
	return sweep.Point{
		Curve:     f.name,
		At:        []float64{away.Seconds() / ttl.Seconds(), float64(len(f.nodes))},
		Scenario:  s,
		Predicted: new(predicted),
	}
}

// referenceFormula is the formula of all curves of [RestartDelayReference].
const referenceFormula = "1 if the delay is shorter than what is left of the lease, and enough votes are lost; else 0"

func (f fixture) loss(node int) nemesis.Action {
	if f.power {
		return &nemesis.PowerLoss{Node: node}
	}
	return &nemesis.Crash{Node: node}
}
