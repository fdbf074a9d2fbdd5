package rare

import (
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const ms = time.Millisecond

// truth is a world whose probability of a violation follows from a formula.
type truth struct {
	name  string
	world func(p float64) scenarios.Scenario
}

// The range of each random time in the worlds.
const wide = 20 * ms

var truths = []truth{
	// c³/6w³: the sum of three uniform times is at most c.
	{"restart delay", func(p float64) scenarios.Scenario {
		return restarting(math.Cbrt(6 * p))
	}},
	// c²/2w²: one uniform time comes after an instant, and its sum with another before.
	{"drift edge", func(p float64) scenarios.Scenario {
		return drifting(math.Sqrt(2 * p))
	}},
	// c⁴/24w⁴: an extension comes late by one uniform time, and the sum of three others is small.
	{"extension", func(p float64) scenarios.Scenario {
		return extending(math.Pow(24*p, 0.25))
	}},
}

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

func between(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d + wide} }

// tiny is one node, on which a holder and a rival try once to lock. The holder keeps the lock until its
// validity is over, 97 ms after it began.
func tiny(start nemesis.Range) scenarios.Scenario {
	holder := scenarios.Client{Workload: "hold", Resource: "r", Rounds: 1, Work: exactly(200 * ms)}
	rival := holder
	rival.Start, rival.Work = start, exactly(ms)
	return scenarios.Scenario{
		Name: "truth",
		Lock: scenarios.Lock{Kind: "single-node", TTL: 100 * ms, DriftFactor: 0.01, NodeTimeout: 90 * ms, Retry: exactly(time.Second)},
		Setting: nemesis.Setting{
			Nodes: 1, Persistence: nemesis.Nothing, Horizon: 300 * ms,
			Latency: nemesis.Distribution{Range: exactly(ms)},
		},
		Clients: []scenarios.Client{holder, rival},
	}
}

const validity = 97 * ms

// slow makes messages of a client take a uniform time.
func slow(s *scenarios.Scenario, client int, way nemesis.Direction) {
	s.Links = append(s.Links, nemesis.LinkLatency{
		Links: nemesis.Links{Clients: []int{client}}, Way: way, Latency: nemesis.Distribution{Range: between(ms)},
	})
}

// restarting is a node that forgets its keys and is back in time for a rival whose start, request and
// reply leave no more than share·wide of three uniform times until the holder's validity is over.
func restarting(share float64) scenarios.Scenario {
	c := time.Duration(share * float64(wide))
	s := tiny(between(validity - c - 2*ms))
	slow(&s, 2, nemesis.Both)
	s.Plan = nemesis.Plan{{Action: &nemesis.Crash{Node: 1}, Start: nemesis.At(20 * ms), End: nemesis.After(20 * ms)}}
	return s
}

// drifting is a node whose clock runs so fast that the holder's key is gone share·wide before its
// validity is over, as far as a rival can tell that sends its request and gets the reply in between.
func drifting(share float64) scenarios.Scenario {
	c := time.Duration(share * float64(wide))
	early := validity - c - 2*ms
	s := tiny(nemesis.Range{Min: early - wide/2, Max: early + wide/2})
	slow(&s, 2, nemesis.Replies)
	// The request takes 1 ms, and the reply at least as much. Expiry is in whole milliseconds, so the
	// key is evicted instead, which is to the nanosecond.
	s.Plan = nemesis.Plan{{Action: &nemesis.Evict{Node: 1}, Start: nemesis.At(validity - c - ms)}}
	return s
}

// extending is a node that evicts the holder's key after the holder, now cut off, has extended its hold.
// The extension comes 50 ms after the grant, for which the holder's request takes a uniform time. So its
// validity ends between 149 ms and 149 ms + wide. The rival's start, request and reply leave no more than
// share·wide of three uniform times until the latest of these ends.
func extending(share float64) scenarios.Scenario {
	c := time.Duration(share * float64(wide))
	const every = 50 * ms
	s := tiny(between(2*ms + every + validity + wide - c - 2*ms))
	slow(&s, 1, nemesis.Requests)
	slow(&s, 2, nemesis.Both)
	s.Clients[0].ExtendEvery = every
	s.Plan = nemesis.Plan{
		{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}}}, Start: nemesis.At(95 * ms)},
		{Action: &nemesis.Evict{Node: 1}, Start: nemesis.At(96 * ms)},
	}
	return s
}

func prepared(t *testing.T, s scenarios.Scenario) runner.Experiment {
	t.Helper()
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The formulas are right: plain runs agree at a probability of one in fifty.
func TestFormulas(t *testing.T) {
	for _, w := range truths {
		const p, runs = 0.02, 5_000
		var rate runner.Rate
		batch := runner.Batch{Experiment: prepared(t, w.world(p)), First: 1, Runs: runs, Each: func(r runner.Result) {
			rate.N++
			if r.Report.Verdicts()[checker.Lease] == checker.Violated {
				rate.K++
			}
		}}
		if _, err := batch.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sigma := math.Sqrt(p * (1 - p) / runs); math.Abs(rate.Share()-p) > 4*sigma {
			t.Errorf("%s: %v, want %v ± %.4f", w.name, rate.Share(), p, sigma)
		}
	}
}

// Law: the estimate of each world is within a factor of two of the truth, and has a run that violates
// the property.
func TestEstimatesAreNearTheTruth(t *testing.T) {
	for i, w := range truths {
		p := []float64{1e-3, 1e-5, 1e-4}[i]
		o := Defaults()
		o.Particles, o.Moves, o.Repetitions = 100, 8, 6
		e := estimated(t, w, p, o)
		if !e.Reliable() || e.Probability < p/2 || e.Probability > 2*p {
			t.Errorf("%s: %.3g [%.3g, %.3g] (%v), want %.3g", w.name, e.Probability, e.Low, e.High, e.Doubts, p)
		}
		if e.Witness == nil || e.Witness.Report.Verdicts()[checker.Lease] != checker.Violated {
			t.Errorf("%s: no run that violates the property", w.name)
		}
	}
}

func estimated(t *testing.T, w truth, p float64, o Options) Estimate {
	t.Helper()
	e, err := Probability(t.Context(), Always(prepared(t, w.world(p))), checker.Lease, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Law: an estimate does not depend on the number of workers.
func TestEstimatesAreRepeated(t *testing.T) {
	o := Defaults()
	o.Particles, o.Moves, o.Repetitions = 20, 2, 5
	a, b := estimated(t, truths[0], 0.01, o), estimated(t, truths[0], 0.01, o)
	if a.Probability != b.Probability || a.Runs != b.Runs || len(a.Levels) == 0 {
		t.Errorf("%+v, then %+v", a, b)
	}
}
