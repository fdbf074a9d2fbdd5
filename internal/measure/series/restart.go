package series

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

const (
	ms = time.Millisecond
	us = time.Microsecond
)

const (
	ttl    = time.Second
	factor = 0.01

	nodeTimeout = 50 * ms

	way   = 100 * us         // one way between a client and a node
	pause = 9800 * us        // between two attempts of the rival
	step  = 2*way + pause    // from one attempt of the rival to the next
	back  = 2*way + step/2   // ℓ, on average: the rival asks within a step of the return
	sync  = 1 * time.Second  // between two syncs of aof-everysec
	hour  = 10 * time.Second // longer than any run
)

// crashAt is when nodes crash. The start of the holder determines how old its lease is then.
const crashAt = ttl

// allowance returns what a lock with this drift factor subtracts from a time to live.
func allowance(ttl time.Duration, factor float64) time.Duration {
	return scenarios.Lock{DriftFactor: factor}.Allowance(ttl)
}

// life is how long a lease lives from the request for it.
var life = ttl - allowance(ttl, factor)

// pair is a holder, client 1, and a rival that wants the lock when the nodes return that
// crashed at crashAt.
type pair struct {
	age   nemesis.Range // of the holder's first request, at the crash
	every time.Duration // between two extensions; 0: none
	away  time.Duration // from the crash to the return
	bare  bool          // the holder reaches only nodes 1 to 3
	kept  nemesis.Persistence
	lost  []nemesis.Action // what happens at the crash
}

func (p pair) scenario(name, summary string) scenarios.Scenario {
	returns := crashAt + p.away
	s := scenarios.Scenario{
		Name:    name,
		Summary: summary,
		Lock:    lock(exactly(pause)),
		Clients: []scenarios.Client{
			client(between(crashAt-p.age.Max, crashAt-p.age.Min), 2*ttl),
			client(between(returns, returns+step-1), 1*ms),
		},
		Setting: world(p.kept, exactly(way), hour),
	}
	if p.every > 0 {
		s.Clients[0].ExtendEvery = p.every - 2*way // the extension itself takes a round trip
	}
	if p.bare {
		s.Plan = append(s.Plan, cutOff())
	}
	for _, a := range p.lost {
		s.Plan = append(s.Plan, nemesis.Fault{Action: a, Start: nemesis.At(crashAt), End: nemesis.After(p.away)})
	}
	return s
}

// lock returns a Redlock that warns its holder at the very end of the validity, so that the
// holder keeps it to the end.
func lock(retry nemesis.Range) scenarios.Lock {
	return scenarios.Lock{
		Kind: "redlock", TTL: ttl, DriftFactor: factor,
		NodeTimeout: nodeTimeout, Linger: 200 * ms, Retry: retry,
	}
}

// cutOff leaves client 1 a bare quorum of five: nodes 1, 2 and 3.
func cutOff() nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{4, 5}}},
		Start:  nemesis.At(0),
	}
}

// client is granted the lock once, and holds it for the time of its work.
func client(start nemesis.Range, work time.Duration) scenarios.Client {
	return scenarios.Client{Workload: "hold", Resource: "invoice-7", Start: start, Work: exactly(work), Rounds: 1}
}

// world has the nodes, and messages that take so long one way.
func world(kept nemesis.Persistence, way nemesis.Range, horizon time.Duration) nemesis.Setting {
	return nemesis.Setting{Nodes: nodes, Persistence: kept, Latency: nemesis.Distribution{Range: way}, Horizon: horizon}
}

func between(lo, hi time.Duration) nemesis.Range { return nemesis.Range{Min: lo, Max: hi} }

func exactly(d time.Duration) nemesis.Range { return between(d, d) }

// curve is what the points of one curve of [RestartDelay] have in common.
type curve struct {
	id, name string
	nodes    int // that crash
	run      func(away time.Duration) pair

	predicted formula
}

// formula is a probability by the delay, with a statement of it for people. Without at there is none.
type formula struct {
	words string
	at    func(away time.Duration) float64
}

// RestartDelay is the probability that one or more nodes return too early, by how long they
// stay away: 0 to 1.5 of the TTL.
//
// One formula is missing. A holder that extends and reaches all nodes notices that it has lost
// the lock if an extension comes after the return and before the rival's grant: with three
// nodes or more the curve stays below [ExtendedRisk], by up to ℓ/e.
func RestartDelay() sweep.Sweep {
	s := sweep.Sweep{
		Name:     "restart-delay",
		Summary:  "a node comes back empty before a lease has ended that it voted for, against how long it stays away",
		Property: checker.Lease,
		Params:   params,
		Runs:     10_000, // intervals of ±0.01 at most
	}
	for _, c := range curves() {
		for away := range delays {
			s.Points = append(s.Points, c.point(away))
		}
	}
	return s
}

var params = []sweep.Param{
	{Name: "restart_delay", Unit: "TTL", Summary: "from the crash to the return of the nodes that crash"},
	{Name: "crashing_nodes", Summary: "how many of the five nodes crash, all at once"},
}

// delays yields 0 to 1.5 TTL in steps of 0.05.
func delays(yield func(away time.Duration) bool) {
	for away := time.Duration(0); away <= 3*ttl/2; away += ttl / 20 {
		if !yield(away) {
			return
		}
	}
}

func (c curve) point(away time.Duration) sweep.Point {
	p := sweep.Point{
		Curve: c.name,
		At:    []float64{away.Seconds() / ttl.Seconds(), float64(c.nodes)},
		Scenario: c.run(away).scenario(
			fmt.Sprintf("restart-delay-%s-%d", c.id, away/ms),
			fmt.Sprintf("%s: back after %v, a TTL being %v", c.name, away, ttl)),
	}
	if c.predicted.at != nil {
		p.Predicted = new(c.predicted.at(away))
	}
	return p
}

// curves returns the curves of a bare quorum with one crashing node, and then those of a
// holder that reaches all nodes.
func curves() []curve {
	crash := func(node int) nemesis.Action { return &nemesis.Crash{Node: node} }
	powerLoss := func(node int) nemesis.Action { return &nemesis.PowerLoss{Node: node} }
	list := []curve{
		{"plain", "plain, no persistence", 1, plain.losing(crash, 3), plainly},
		{"plain-everysec-crash", "plain, aof-everysec, crash", 1, plain.keeping(nemesis.EverySecond).losing(crash, 3), never},
		{"plain-everysec", "plain, aof-everysec, loss of power", 1, plain.keeping(nemesis.EverySecond).losing(powerLoss, 3), unsynced(1, 1)},
		{"plain-always", "plain, aof-always, loss of power", 1, plain.keeping(nemesis.Always).losing(powerLoss, 3), never},
		{"extended", "extended, no persistence", 1, extended.losing(crash, 3), extendedly},
		{"extended-everysec-crash", "extended, aof-everysec, crash", 1, extended.keeping(nemesis.EverySecond).losing(crash, 3), never},
		{"extended-everysec", "extended, aof-everysec, loss of power", 1, extended.keeping(nemesis.EverySecond).losing(powerLoss, 3), mended},
		{"extended-always", "extended, aof-always, loss of power", 1, extended.keeping(nemesis.Always).losing(powerLoss, 3), never},
	}
	for k := 1; k <= 5; k++ {
		of := []curve{
			{"plain-nodes-%d", "plain, all nodes reached, %d crash", k, plain.reachingAll().losing(crash, first(k)...), plainly},
			{"plain-nodes-everysec-%d", "plain, all nodes reached, aof-everysec, %d lose power", k,
				plain.reachingAll().keeping(nemesis.EverySecond).losing(powerLoss, first(k)...), unsynced(k, quorum)},
			{"extended-nodes-%d", "extended, all nodes reached, %d crash", k, extended.reachingAll().losing(crash, first(k)...), formula{}},
		}
		for _, c := range of {
			c.id, c.name = fmt.Sprintf(c.id, k), fmt.Sprintf(c.name, k)
			if k < quorum {
				c.predicted = never
			}
			list = append(list, c)
		}
	}
	return list
}

// nodes of each world, and the quorum of them.
const (
	nodes  = 5
	quorum = 3
)

const (
	every    = 300 * ms // from one extension to the next
	renewals = 2        // extensions before the crash
)

// validity is what is left of a lease at its grant, and extendedValidity when its
// extension reaches the node.
var (
	validity         = life - 2*way
	extendedValidity = life - way
)

var (
	// plain has a bare quorum. The crash is uniform from its grant to the end of its validity.
	plain = pair{age: between(2*way, life), bare: true, kept: nemesis.Nothing}

	// extended has one too. The crash is uniform from when the last extension reaches the node
	// to when the next would.
	extended = pair{age: between(renewals*every+way, (renewals+1)*every+way-1), every: every, bare: true, kept: nemesis.Nothing}
)

// The formulas of the curves. A picture states those of all its curves, so each says what it is for.
var (
	never = formula{"0 where too few votes are lost", func(time.Duration) float64 { return 0 }}

	plainly = formula{
		"without persistence max(0, 1 − (D + ℓ)/V): delay D, latency ℓ of the next grant, validity V",
		func(away time.Duration) float64 { return PlainRisk(away, validity, back) },
	}

	extendedly = formula{
		"without persistence and with extensions (V − D − ℓ)/e, from 0 to 1: delay D, latency ℓ of the next grant, validity V, time e between extensions",
		func(away time.Duration) float64 { return ExtendedRisk(away, extendedValidity, back, every) },
	}

	mended = formula{
		"after a loss of power with extensions the mean of 1 − h/s while D + ℓ < V − w: age w of the last extension, a sync up to h before the crash is repaired, time s between syncs",
		func(away time.Duration) float64 {
			r := Renewal{TTL: ttl, Validity: extendedValidity, Every: every, Timeout: nodeTimeout - 2*way, Done: renewals}
			return r.Unsynced(away, back, sync)
		},
	}
)

// unsynced is the formula of nodes that lose power, needed of which have to lose votes.
func unsynced(nodes, needed int) formula {
	return formula{
		"after a loss of power ∫ P(v) dv/V, v from 0 to V − D − ℓ: P that enough votes of age v are lost, each with 1 − v/s, time s between syncs",
		func(away time.Duration) float64 { return UnsyncedRisk(away, validity, back, sync, nodes, needed) },
	}
}

// delayFormula states the formula of a curve of [RestartDelay]; "" if it has none.
func delayFormula(name string) string {
	for _, c := range curves() {
		if c.name == name {
			return c.predicted.words
		}
	}
	return ""
}

func (p pair) keeping(kept nemesis.Persistence) pair {
	p.kept = kept
	return p
}

func (p pair) reachingAll() pair {
	p.bare = false
	return p
}

// losing completes the pair with what happens to some nodes. How long is left open.
func (p pair) losing(loss func(node int) nemesis.Action, nodes ...int) func(away time.Duration) pair {
	for _, n := range nodes {
		p.lost = append(p.lost, loss(n))
	}
	return func(away time.Duration) pair {
		p.away = away
		return p
	}
}

func first(k int) []int {
	nodes := make([]int, k)
	for i := range nodes {
		nodes[i] = i + 1
	}
	return nodes
}

// RestartDelayPrice is what the delay costs: three clients want the lock all the time, each
// for a short while, and 1 to 5 of the five nodes crash and stay away. The results are the
// measurements: availability and outages. With three nodes or more the longest outage is the
// time from the crash to the next grant. They cover four TTLs, with one crash. There is no
// formula. The same measurements of [RestartDelay] mean little: its holder keeps the lock
// while others starve, as intended.
//
// A run takes some milliseconds, ten times as long as one of RestartDelay, and varies little.
func RestartDelayPrice() sweep.Sweep {
	s := sweep.Sweep{
		Name:     "restart-delay-price",
		Summary:  "what it costs clients in steady contention that nodes stay away after a crash",
		Property: checker.Lease,
		Params:   params,
		Runs:     100,
	}
	for k := 1; k <= 5; k++ {
		for away := range delays {
			s.Points = append(s.Points, sweep.Point{
				Curve:    fmt.Sprintf("price, %d crash", k),
				At:       []float64{away.Seconds() / ttl.Seconds(), float64(k)},
				Scenario: contended(k, away),
			})
		}
	}
	return s
}

// contended has clients that share the lock, while k nodes crash and stay away.
func contended(k int, away time.Duration) scenarios.Scenario {
	s := scenarios.Scenario{
		Name:    fmt.Sprintf("restart-delay-price-%d-%d", k, away/ms),
		Summary: fmt.Sprintf("three clients in steady contention; %d of five nodes crash and are back after %v", k, away),
		Lock:    lock(between(5*ms, 20*ms)),
		Setting: world(nemesis.Nothing, between(200*us, 1*ms), 4*ttl),
	}
	for range 3 {
		s.Clients = append(s.Clients, scenarios.Client{
			Workload: "hold", Resource: "invoice-7",
			Work: between(10*ms, 40*ms), Think: between(0, 20*ms),
			Rounds: 10_000, // to the end
		})
	}
	for _, n := range first(k) {
		s.Plan = append(s.Plan, nemesis.Fault{Action: &nemesis.Crash{Node: n}, Start: nemesis.At(crashAt), End: nemesis.After(away)})
	}
	return s
}
