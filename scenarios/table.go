package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

const (
	ms = time.Millisecond
	us = time.Microsecond
)

// The verdicts that a scenario expects, in the order of the debate.
const (
	holds    = checker.Holds
	violated = checker.Violated
	na       = checker.NotApplicable
)

// expect names the verdicts of the properties that are judged so far.
func expect(lease, section, effect, faultTolerance checker.Verdict) Expectations {
	return Expectations{
		checker.Lease:           lease,
		checker.Section:         section,
		checker.Effect:          effect,
		checker.Fence:           na,
		checker.DeadlockFreedom: holds,
		checker.FaultTolerance:  faultTolerance,
		checker.Cleanup:         holds,
		checker.Contract:        holds,
	}
}

func span(lo, hi time.Duration) nemesis.Range { return nemesis.Range{Min: lo, Max: hi} }

func exactly(d time.Duration) nemesis.Range { return span(d, d) }

// quickLock is a Redlock for nodes that are near: a TTL of a second, so that
// the same scenario is bearable on real servers.
var quickLock = Lock{
	Kind:        "redlock",
	TTL:         time.Second,
	DriftFactor: 0.01,
	NodeTimeout: 50 * ms,
	Linger:      200 * ms,
	Margin:      50 * ms,
	Retry:       span(20*ms, 80*ms),
}

// promptLock tries again at once and tells its holder at the very end of the
// validity, so that it finds the smallest gap between two holds.
var promptLock = func() Lock {
	l := quickLock
	l.Margin, l.Retry = 0, span(500*us, 2*ms)
	return l
}()

// patientLock waits for a node for longer than the TTL, so that replies can
// come when the validity is over.
var patientLock = func() Lock {
	l := quickLock
	l.NodeTimeout, l.Linger = 3*time.Second, 4*time.Second
	return l
}()

var (
	quickBounds   = history.Bounds{Acquire: 300 * ms, Extend: 300 * ms, Release: 300 * ms, Cleanup: 100 * ms, Grant: 2 * time.Second}
	patientBounds = history.Bounds{Acquire: 3300 * ms, Extend: 3300 * ms, Release: 3300 * ms, Cleanup: 100 * ms, Grant: 10 * time.Second}
)

// tries adds the bound of fault tolerance.
func tries(b history.Bounds, n int) history.Bounds {
	b.Tries = n
	return b
}

// five is a world of five near nodes that forget their keys in a crash.
func five(horizon time.Duration, plan ...nemesis.Fault) nemesis.Setting {
	return nemesis.Setting{
		Nodes:       5,
		Persistence: nemesis.Nothing,
		Latency:     nemesis.Distribution{Range: span(200*us, 1*ms)},
		Guard:       guard.Plain,
		Horizon:     horizon,
		Plan:        plan,
	}
}

func fenced(s nemesis.Setting) nemesis.Setting {
	s.Guard = guard.Fenced
	return s
}

const resource = "invoice-7"

// once is a client that does one section under the lock.
func once(start, work nemesis.Range) Client {
	return Client{Workload: "section", Resource: resource, Start: start, Work: work, Rounds: 1}
}

// often is a client that does many sections, with pauses between them.
func often(rounds int, work, think nemesis.Range) Client {
	return Client{Workload: "section", Resource: resource, Work: work, Think: think, Rounds: rounds}
}

// holding is a client that keeps the lock as long as it may.
func holding(rounds int, start, work, think nemesis.Range) Client {
	return Client{Workload: "hold", Resource: resource, Start: start, Work: work, Think: think, Rounds: rounds}
}

func extending(c Client, every time.Duration) Client {
	c.ExtendEvery = every
	return c
}

func fencing(c Client) Client {
	c.Fence = true
	return c
}

// bareQuorum cuts client 1 off from nodes 4 and 5, so that it holds nodes 1, 2
// and 3 and no others.
var bareQuorum = nemesis.Fault{
	Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{4, 5}}},
	Start:  nemesis.At(0),
}

// crashOfNode3 comes when client 1 has just been granted the lock.
func crashOfNode3(away time.Duration) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Crash{Node: 3},
		Start:  nemesis.When(1, env.StepGranted, 20*ms),
		End:    nemesis.After(away),
	}
}

// pauseOfClient1 comes when client 1 has read and is about to work.
func pauseOfClient1(length time.Duration) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Pause{Client: 1},
		Start:  nemesis.When(1, env.StepAfterRead, 0),
		End:    nemesis.After(length),
	}
}

// drift makes every node's clock fast and client 1's slow.
func drift(ppm int64) []nemesis.Fault {
	plan := []nemesis.Fault{{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Client: 1}, PPM: -ppm}, Start: nemesis.At(0)}}
	for n := 1; n <= 5; n++ {
		plan = append(plan, nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: n}, PPM: ppm}, Start: nemesis.At(0)})
	}
	return plan
}

// rivals are a holder who works for most of the validity, and another client
// that wants the lock meanwhile.
var rivals = []Client{
	once(exactly(0), span(850*ms, 920*ms)),
	once(span(100*ms, 200*ms), span(20*ms, 50*ms)),
}

// debate is what the two sides of 2016 spoke of, row by row.
var debate = []Scenario{
	{
		Name:    "calm",
		Summary: "clients compete, one of them extends its lock, and nothing goes wrong",
		Lock:    quickLock,
		Clients: []Client{
			often(10, span(5*ms, 20*ms), span(10*ms, 100*ms)),
			often(10, span(5*ms, 20*ms), span(10*ms, 100*ms)),
			extending(holding(2, span(0, 50*ms), span(1200*ms, 1500*ms), exactly(50*ms)), 300*ms),
		},
		Setting: five(20 * time.Second),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	},
	{
		Name:    "slow-acquire",
		Summary: "replies can take longer than the TTL; the lock waits for them and has to see that it is too late",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "safe: it checks time"},
		Lock:    patientLock,
		Clients: []Client{
			holding(8, span(0, 100*ms), span(50*ms, 1500*ms), span(0, 200*ms)),
			holding(8, span(0, 100*ms), span(50*ms, 1500*ms), span(0, 200*ms)),
		},
		Setting: five(30*time.Second, nemesis.Fault{
			Action: &nemesis.Latency{Links: nemesis.Links{Nodes: []int{2, 3, 4, 5}}, Add: nemesis.Distribution{Range: span(0, 700*ms)}},
			Start:  nemesis.At(0),
			End:    &nemesis.Moment{At: 20 * time.Second},
		}),
		Bounds: patientBounds,
		Expect: expect(holds, holds, na, na),
	},
	{
		Name:    "minority-partition",
		Summary: "two of five nodes cannot be reached for a while",
		Claims:  Claims{Antirez: "available"},
		Lock:    quickLock,
		Clients: []Client{
			often(6, span(5*ms, 20*ms), span(200*ms, 600*ms)),
			often(6, span(5*ms, 20*ms), span(200*ms, 600*ms)),
		},
		Setting: five(20*time.Second, nemesis.Fault{
			Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{4, 5}}},
			Start:  nemesis.At(0),
			End:    &nemesis.Moment{At: 2 * time.Second},
		}),
		Bounds: tries(quickBounds, 3),
		Expect: expect(holds, holds, holds, holds),
	},
	{
		Name:    "crash-restart",
		Summary: "one node of the holder's quorum crashes and is back at once, without its keys",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "unsafe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, crashOfNode3(0)),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	},
	{
		Name:    "short-restart",
		Summary: "the node stays away, but comes back while the holder's validity lasts",
		Claims:  Claims{Antirez: "unsafe: too short"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, crashOfNode3(300*ms)),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, violated, na),
	},
	{
		Name:    "delayed-restart",
		Summary: "the node stays away for longer than the TTL",
		Claims:  Claims{Kleppmann: "safe, good clocks", Antirez: "safe"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, crashOfNode3(1100*ms)),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, holds, na),
	},
	{
		Name:    "node-clock-jump",
		Summary: "the clock of one node of the holder's quorum jumps forward by more than the TTL",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "not to be allowed"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, bareQuorum, nemesis.Fault{
			Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 3}, By: 2 * time.Second},
			Start:  nemesis.When(1, env.StepGranted, 20*ms),
		}),
		Bounds: quickBounds,
		Expect: expect(violated, violated, violated, na),
	},
	{
		Name:    "clock-drift",
		Summary: "nodes run 0.5 % fast and the holder 0.5 % slow: the allowance of 1 % + 2 ms covers it",
		Claims:  Claims{Kleppmann: "unsafe near the TTL", Antirez: "safe: allowance"},
		Lock:    promptLock,
		Clients: driftClients,
		Setting: five(3*time.Second, drift(5_000)...),
		Bounds:  quickBounds,
		Expect:  expect(holds, holds, na, na),
	},
	{
		Name:    "clock-drift-beyond",
		Summary: "nodes run 2 % fast and the holder 2 % slow: more than the allowance covers",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "not to be allowed"},
		Lock:    promptLock,
		Clients: driftClients,
		Setting: five(3*time.Second, drift(20_000)...),
		Bounds:  quickBounds,
		Expect:  expect(violated, violated, na, na),
	},
	{
		Name:    "pause-then-write",
		Summary: "the holder stands still past its validity and then writes what it had worked out",
		Claims:  Claims{Kleppmann: "unsafe", Antirez: "so are all leases"},
		Lock:    quickLock,
		Clients: rivals,
		Setting: five(5*time.Second, pauseOfClient1(2*time.Second)),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, violated, na),
	},
	{
		Name:    "fenced-write",
		Summary: "as pause-then-write, with a fence that the resource checks on reads and writes",
		Claims:  Claims{Kleppmann: "safe", Antirez: "if you have a store"},
		Lock:    quickLock,
		Clients: []Client{fencing(rivals[0]), fencing(rivals[1])},
		Setting: fenced(five(5*time.Second, pauseOfClient1(2*time.Second))),
		Bounds:  quickBounds,
		Expect:  expect(holds, violated, holds, na),
	},
}

// driftClients are a holder who keeps the lock to the last instant of its
// validity, and another that tries again and again.
var driftClients = []Client{
	holding(1, exactly(0), exactly(2*time.Second), exactly(0)),
	holding(1, span(10*ms, 20*ms), span(20*ms, 50*ms), exactly(0)),
}

// All returns the named scenarios: the debate in its order, then the remedies.
func All() []Scenario {
	all := slices.Concat(debate, remedies)
	for i := range all {
		all[i].Setting.Clients = len(all[i].Clients)
	}
	return all
}

// Find returns the scenario of that name.
func Find(name string) (Scenario, error) {
	all := All()
	known := make([]string, len(all))
	for i, s := range all {
		if s.Name == name {
			return s, nil
		}
		known[i] = s.Name
	}
	return Scenario{}, fmt.Errorf("unknown scenario %q: there is %s", name, strings.Join(known, ", "))
}
