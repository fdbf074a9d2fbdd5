package scenarios

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// contentionSeries is the series about contention.
var contentionSeries = []Series{
	{
		Name:     "split-vote",
		Remark:   "While latencies are constant, a fixed delay never ends a split vote. Where they vary by half, their chance decides it. A client that asks one node after another meets rivals at the first node, and finds no split.",
		Summary:  "clients start at once, and each is nearest to other nodes: three to two, two and one, five to one each",
		Claims:   []Claim{fromRedis("random retry; send at once", "Retry on Failure")},
		Varied:   "retry delay (to acquire takes 2 ms)",
		Property: checker.DeadlockFreedom, Unordered: true,
		Measures: []Measure{TriesPerGrant, RoundsToGrant},
		Points: []Point{
			split("fixed-1ms", "1 ms", three, exactly(1*ms), violated),
			split("fixed-50ms", "50 ms", three, exactly(50*ms), violated),
			split("five-fixed-50ms", "50 ms, five clients", fiveClients, exactly(50*ms), violated),
			noisily(split("fixed-50ms-noisy", "50 ms, latencies vary by half", three, exactly(50*ms), holds)),
			split("jitter-200us", "0 to 0.2 ms", three, span(0, 200*us), checker.Unknown), // in a run of 250, nobody gets the lock in time
			split("jitter-1ms", "0 to 1 ms", three, span(0, 1*ms), holds),
			split("jitter-5ms", "0 to 5 ms", three, span(0, 5*ms), holds),
			split("jitter-50ms", "0 to 50 ms", three, span(0, 50*ms), holds),
			split("five-jitter-1ms", "0 to 1 ms, five clients", fiveClients, span(0, 1*ms), holds),
			split("five-jitter-50ms", "0 to 50 ms, five clients", fiveClients, span(0, 50*ms), holds),
			sequentially(split("fixed-1ms-in-turn", "1 ms, sequential", three, exactly(1*ms), holds)),
			sequentially(split("fixed-50ms-in-turn", "50 ms, sequential", three, exactly(50*ms), holds)),
			sequentially(split("jitter-1ms-in-turn", "0 to 1 ms, sequential", three, span(0, 1*ms), holds)),
			sequentially(split("jitter-50ms-in-turn", "0 to 50 ms, sequential", three, span(0, 50*ms), holds)),
		},
		Cures: []Change{
			{"a random part of the delay", func(s *Scenario) { s.Lock.Retry.Min = 0 }},
		},
		Damages: []Damage{
			{checker.DeadlockFreedom, "a fixed delay", func(s *Scenario) { s.Lock.Retry.Min = s.Lock.Retry.Max }},
		},
	},
	{
		Name:     "single-vs-redlock",
		Summary:  "five nodes restart without their keys, each every four to six seconds; a lock uses one of them, or all",
		Claims:   []Claim{fromKleppmann("one node is enough for efficiency", "What are you using that lock for?"), fromAntirez("Redlock is safer")},
		Varied:   "lock",
		Property: checker.Lease, Unordered: true,
		Measures: []Measure{PerMillion, RequestsPerGrant},
		Points: []Point{
			restarting("single-node", onOneNode(quickLock), expect(violated, violated, violated, na)),
			restarting("redlock", quickLock, rarely(expect(violated, violated, violated, na))), // in a tenth of the runs
		},
	},
	{
		Name:     "ttl-too-short",
		Remark:   "V1 and V2 hold at every TTL, because they end when the lock warns its holder. A section that goes on is unprotected, which V3 shows.",
		Summary:  "sections of 50 to 950 ms, and a holder that dies: a short TTL leaves sections unprotected, a long one blocks",
		Varied:   "TTL",
		Property: checker.Effect,
		Measures: []Measure{LostUpdates, Blocked},
		Points: []Point{
			lifetime("ttl-too-short", 100*ms, expect(holds, holds, violated, na)),
			lifetime("ttl-too-short", 200*ms, expect(holds, holds, violated, na)),
			lifetime("ttl-too-short", 500*ms, expect(holds, holds, violated, na)),
			lifetime("ttl-too-short", 700*ms, expect(holds, holds, violated, na)),
			lifetime("ttl-too-short", 900*ms, rarely(expect(holds, holds, violated, na))), // in a sixth of the runs
			lifetime("ttl-too-long", 1*time.Second, expect(holds, holds, holds, na)),
			lifetime("ttl-too-long", 2*time.Second, expect(holds, holds, holds, na)),
			lifetime("ttl-too-long", 5*time.Second, expect(holds, holds, holds, na)),
			lifetime("ttl-too-long", 10*time.Second, expect(holds, holds, holds, na)),
		},
		Cures: []Change{
			{"a TTL that is long enough", func(s *Scenario) { s.Lock.TTL = time.Second }},
		},
	},
}

// three and fiveClients are the nodes that are nearest to each client.
var (
	three       = [][]int{{1, 2}, {3, 4}, {5}}
	fiveClients = [][]int{{1}, {2}, {3}, {4}, {5}}
)

// split is clients that find no majority if they try at the same time: messages take 0.2 ms
// to near nodes and 1 ms to the others, without variation.
func split(name, value string, near [][]int, retry nemesis.Range, progress checker.Verdict) Point {
	setting := five(2 * time.Second)
	setting.Latency = always(1 * ms)
	var clients []Client
	for i, nodes := range near {
		setting.Links = append(setting.Links, nemesis.LinkLatency{
			Links:   nemesis.Links{Clients: []int{i + 1}, Nodes: nodes},
			Latency: always(200 * us),
		})
		clients = append(clients, holding(1, exactly(0), exactly(10*ms), exactly(0)))
	}
	lock, bounds := quickLock, quickBounds
	lock.TTL, lock.Retry = 200*ms, retry
	bounds.Grant = 1500 * ms
	p := Point{Value: value, Scenario: Scenario{
		Name:    "split-vote-" + name,
		Summary: fmt.Sprintf("%d clients, each nearest to other nodes, start at once and try again after %v", len(near), retry),
		Lock:    lock,
		Clients: clients,
		Setting: setting,
		Bounds:  bounds,
		Expect:  expect(holds, holds, na, na),
	}}
	p.Expect[checker.DeadlockFreedom] = progress
	if progress == violated { // then nobody was ever granted the lock
		p.Expect[checker.Backing], p.Expect[checker.Lease], p.Expect[checker.Section] = na, na, na
	}
	return p
}

func always(d time.Duration) nemesis.Distribution { return nemesis.Distribution{Range: exactly(d)} }

// noisily makes latencies vary, so that the network breaks the symmetry of the clients.
func noisily(p Point) Point {
	p.Latency.Min -= p.Latency.Min / 2
	for i := range p.Links {
		p.Links[i].Latency.Min -= p.Links[i].Latency.Min / 2
	}
	p.Summary += ", over latencies that vary by half"
	return p
}

func sequentially(p Point) Point {
	p.Lock = sequential(p.Lock)
	p.Summary += ", asking one node after another"
	return p
}

// restarting is clients of a lock over five nodes, each of which loses its keys
// from time to time. A lock on one node uses the first.
func restarting(name string, lock Lock, expected Expectations) Point {
	setting := five(60 * time.Second)
	for i, times := range restartTimes {
		for _, at := range times {
			setting.Plan = append(setting.Plan, crash(i+1, nemesis.At(at), 5*ms))
		}
	}
	c := often(20, span(50*ms, 300*ms), span(0, 100*ms))
	return Point{Value: name, Scenario: Scenario{
		Name:    "single-vs-redlock-" + name,
		Summary: fmt.Sprintf("five nodes restart without their keys, each every four to six seconds; the lock is %s", name),
		Lock:    lock,
		Clients: []Client{c, c, c},
		Setting: setting,
		Bounds:  quickBounds,
		Expect:  expected,

		SlipMargin: quickLock.TTL / 10, // that a node is away for 5 ms alone hinders nobody
	}}
}

// rarely expects any verdict where violated is expected, because too few runs violate the property.
func rarely(e Expectations) Expectations {
	for p, v := range e {
		if v == violated {
			e[p] = checker.Unknown
		}
	}
	return e
}

// onOneNode is a lock of the same times on a single node.
func onOneNode(l Lock) Lock {
	l.Kind, l.Linger = "single-node", 0
	return l
}

// restartTimes are the times at which each node restarts. The periods have no common
// measure, so that no two nodes repeatedly restart together.
var restartTimes = func() (times [5][]time.Duration) {
	for i, period := range []time.Duration{4001 * ms, 4507 * ms, 5003 * ms, 5501 * ms, 6007 * ms} {
		for at := period / 2; at < 20*time.Second; at += period {
			times[i] = append(times[i], at)
		}
	}
	return times
}()

// lifetime is clients that work for up to a second under a lock with a given TTL, while
// one of them dies.
func lifetime(id string, ttl time.Duration, expected Expectations) Point {
	lock := quickLock
	lock.TTL, lock.Margin = ttl, 0
	first := often(5, span(50*ms, 950*ms), span(0, 20*ms))
	next := first
	next.Start = exactly(50 * ms)
	return Point{Value: ttl.String(), Scenario: Scenario{
		Name:    fmt.Sprintf("%s-%s", id, ttl),
		Summary: fmt.Sprintf("sections of 50 to 950 ms under a lock of %v, and a holder that dies", ttl),
		Lock:    lock,
		Clients: []Client{first, next, next},
		Setting: five(60*time.Second, kill(1, nemesis.When(1, env.StepAfterRead, 20*ms))),
		Bounds:  quickBounds,
		Expect:  expected,
	}}
}
