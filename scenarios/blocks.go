package scenarios

import (
	"maps"
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

// The expected verdicts of a scenario, in the order of the debate.
const (
	holds    = checker.Holds
	violated = checker.Violated
	na       = checker.NotApplicable
)

// expect names the verdicts of all properties. Those without a bound in most rows are not
// applicable.
func expect(lease, section, effect, faultTolerance checker.Verdict) Expectations {
	return Expectations{
		checker.Backing: lease, checker.Lease: lease, checker.Section: section, checker.Effect: effect, checker.FaultTolerance: faultTolerance,
		checker.DeadlockFreedom: holds, checker.Cleanup: holds, checker.Contract: holds,
	}.complete()
}

// but expects another verdict of one property.
func but(e Expectations, p checker.Property, v checker.Verdict) Expectations {
	e = maps.Clone(e)
	e[p] = v
	return e
}

// live expects a verdict of deadlock freedom.
func live(e Expectations, v checker.Verdict) Expectations {
	return but(e, checker.DeadlockFreedom, v)
}

// open expects unknown of the exclusion properties: any verdict is as expected.
func open(e Expectations) Expectations {
	e[checker.Backing], e[checker.Lease], e[checker.Section] = checker.Unknown, checker.Unknown, checker.Unknown
	return e
}

func span(lo, hi time.Duration) nemesis.Range { return nemesis.Range{Min: lo, Max: hi} }

func exactly(d time.Duration) nemesis.Range { return span(d, d) }

// quickLock is a Redlock for nearby nodes: with a TTL of a second the same scenario takes an
// acceptable time on real servers.
var quickLock = Lock{
	Kind:        "redlock",
	TTL:         time.Second,
	DriftFactor: 0.01,
	NodeTimeout: 50 * ms,
	Linger:      200 * ms,
	Margin:      50 * ms,
	Retry:       span(20*ms, 80*ms),
}

// promptLock retries at once and warns its holder only at the end of the validity, so that it finds
// the smallest gap between two holds.
var promptLock = func() Lock {
	l := quickLock
	l.Margin, l.Retry = 0, span(500*us, 2*ms)
	return l
}()

var (
	quickBounds = history.Bounds{Acquire: 300 * ms, Extend: 300 * ms, Release: 300 * ms, Cleanup: 100 * ms, Grant: 2 * time.Second}
)

// tries adds the bound of fault tolerance.
func tries(b history.Bounds, n int) history.Bounds {
	b.Tries = n
	return b
}

// shipped is the connections of package redisnode.
var shipped = nemesis.Connections{Batched: true}

// five is a world of five nearby nodes without persistence.
func five(horizon time.Duration, plan ...nemesis.Fault) nemesis.Setting {
	return nemesis.Setting{
		Nodes:       5,
		Persistence: nemesis.Nothing,
		Latency:     nemesis.Distribution{Range: span(200*us, 1*ms)},
		Connections: shipped,
		Guard:       guard.Plain,
		Horizon:     horizon,
		Plan:        plan,
	}
}

const resource = "invoice-7"

// once is a client with one section under the lock.
func once(start, work nemesis.Range) Client {
	return Client{Workload: "section", Resource: resource, Start: start, Work: work, Rounds: 1}
}

// often is a client with many sections and pauses between them.
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

// cutOff cuts a client off from some nodes, or from all, for ever. cutOff(1, 4, 5) of
// five leaves client 1 a bare quorum: it holds the lock on nodes 1, 2 and 3 only,
// so that the loss of one key loses the lock.
func cutOff(client int, nodes ...int) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{client}, Nodes: nodes}},
		Start:  nemesis.At(0),
	}
}

// crash crashes a node's server. After a time it starts again with what its persistence has kept.
func crash(node int, start nemesis.Trigger, away time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: start, End: nemesis.After(away)}
}

// down takes a node's server down from the beginning, for ever.
func down(node int) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: nemesis.At(0)}
}

func kill(client int, start nemesis.Trigger) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Kill{Client: client}, Start: start}
}

func pause(client int, start nemesis.Trigger, length time.Duration) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Pause{Client: client}, Start: start, End: nemesis.After(length)}
}

// afterGrant is a time after client 1 was granted the lock for the first time.
func afterGrant(d time.Duration) nemesis.Trigger { return nemesis.When(1, env.StepGranted, d) }

// nth is the n-th time that a client reaches a step.
func nth(n int, m nemesis.Trigger) nemesis.Trigger {
	m.Count = n
	return m
}

// keepers are a holder that keeps the lock to the last instant of its validity, and another client
// that retries continually near the end. It starts before keys expire on nodes that are fast by a
// fifth (833 ms), and not earlier, because tries that cannot succeed show nothing.
var keepers = []Client{
	holding(1, exactly(0), exactly(2*time.Second), exactly(0)),
	holding(1, span(750*ms, 760*ms), span(20*ms, 50*ms), exactly(0)),
}

// drawing is a lock that draws a fence with every grant.
func drawing(l Lock, from string) Lock {
	l.Fence = from
	return l
}

func quarantined(l Lock) Lock {
	l.Quarantine = l.TTL
	return l
}

func watched(l Lock) Lock {
	l.Watchdog.Every = l.TTL / 3
	return l
}
