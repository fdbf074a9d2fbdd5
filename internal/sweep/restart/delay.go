package restart

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/nemesis"
)

// curve is what is the same along one curve of [Delay].
type curve struct {
	id, name string
	nodes    int // that go down
	run      func(away time.Duration) pair

	// predicted is the formula; nil: there is none.
	predicted func(away time.Duration) float64
}

// Delay is the probability that a node, or several, come back too soon, against how long
// they stay away: 0 to 1.5 of the TTL.
//
// One formula is missing. A holder who extends and reaches all nodes is told that it has
// lost the lock if an extension comes after the nodes' return and before the rival's
// grant: with three nodes or more the curve stays below [Extended], by up to ℓ/e.
func Delay() sweep.Sweep {
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

// delays goes from 0 to 1.5 TTL in steps of 0.05.
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
	if c.predicted != nil {
		p.Predicted = new(c.predicted(away))
	}
	return p
}

// curves are first those of a bare quorum, one node of which goes down, and then those of
// a holder who reaches all nodes.
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
			{"extended-nodes-%d", "extended, all nodes reached, %d crash", k, extended.reachingAll().losing(crash, first(k)...), nil},
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

// quorum of the five nodes: so many a rival needs.
const quorum = 3

const (
	every    = 300 * ms // from one extension to the next
	renewals = 2        // extensions before the crash
)

// validity is what is left of a lease at its grant, and extendedValidity when its
// extension has come to the node.
var (
	validity         = life - 2*way
	extendedValidity = life - way
)

var (
	// plain holds a bare quorum, and the crash comes at any time from its grant to the
	// end of its validity.
	plain = pair{age: between(2*way, life), bare: true, kept: nemesis.Nothing}

	// extended does so too, and the crash comes at any time from the last extension's
	// coming to the node to that of the next.
	extended = pair{age: between(renewals*every+way, (renewals+1)*every+way-1), every: every, bare: true, kept: nemesis.Nothing}
)

func never(time.Duration) float64           { return 0 }
func plainly(away time.Duration) float64    { return Plain(away, validity, back) }
func extendedly(away time.Duration) float64 { return Extended(away, extendedValidity, back, every) }

func mended(away time.Duration) float64 {
	r := Renewal{TTL: ttl, Validity: extendedValidity, Every: every, Timeout: nodeTimeout - 2*way, Done: renewals}
	return r.Unsynced(away, back, sync)
}

// unsynced is the formula of nodes that lose power, of which so many have to lose votes.
func unsynced(nodes, needed int) func(away time.Duration) float64 {
	return func(away time.Duration) float64 { return Unsynced(away, validity, back, sync, nodes, needed) }
}

func (p pair) keeping(kept nemesis.Persistence) pair {
	p.kept = kept
	return p
}

func (p pair) reachingAll() pair {
	p.bare = false
	return p
}

// losing completes the pair with what happens to some nodes, but for how long.
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
