package explore

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// SmallestPart returns the part of a scenario that is the smallest world which asks the same question: of
// its clients at least two, of its nodes at least three, few rounds, and all of its faults. It asks the
// same if the runs without deviations show the same verdicts in both, and clients try to acquire after
// crashed nodes are back if they do so in the scenario. If none does, it is all of the scenario.
func SmallestPart(ctx context.Context, s scenarios.Scenario) (scenarios.Part, error) {
	m := minimizer{ctx: ctx, whole: s}
	want, err := m.shown(s)
	if err != nil {
		return m.part, err
	}
	m.want = want
	m.rounds()
	m.clients()
	m.nodes()
	m.rounds()
	return m.part, m.err
}

// minimizer looks for a smaller part of a scenario.
type minimizer struct {
	ctx   context.Context
	whole scenarios.Scenario
	want  shown          // by the whole
	part  scenarios.Part // the smallest so far
	err   error
}

// The least numbers of clients and nodes, if there are as many.
const (
	leastClients = 2
	leastNodes   = 3
)

// straight are bounds without deviations.
func straight(s scenarios.Scenario) Bounds {
	return Bounds{Latencies: 1, Draws: 1, Deviations: 0, Faults: len(s.Plan)}
}

// shown is what the runs without deviations show.
type shown struct {
	verdicts map[checker.Property]Verdict
	untried  bool // in one no client tried to acquire after the return of a node
}

func (m *minimizer) shown(s scenarios.Scenario) (shown, error) {
	o, err := Explore(m.ctx, s, straight(s), Limits{}, checker.Properties(), nil)
	if err != nil {
		return shown{}, err
	}
	all := shown{map[checker.Property]Verdict{}, o.UntriedReturns > 0}
	for _, j := range o.Judged {
		all.verdicts[j.Property] = j.Verdict
	}
	return all, m.ctx.Err()
}

// try makes a part the smallest so far, if it has all faults and asks the same as the whole.
func (m *minimizer) try(p scenarios.Part) bool {
	if m.err != nil {
		return false
	}
	s, err := p.Of(m.whole)
	if err != nil || len(s.Plan) != len(m.whole.Plan) || s.Validate() != nil {
		return false
	}
	got, err := m.shown(s)
	if m.ctx.Err() != nil {
		m.err = m.ctx.Err()
	}
	same := err == nil && maps.Equal(got.verdicts, m.want.verdicts) && got.untried == m.want.untried
	if same {
		m.part = p
	}
	return same
}

// rounds leaves each client few rounds: the first power of two that will do.
func (m *minimizer) rounds() {
	s, err := m.part.Of(m.whole)
	if err != nil {
		return
	}
	now := make([]int, len(s.Clients))
	for i, c := range s.Clients {
		now[i] = c.Rounds
	}
	for i := range now {
		for n := 1; n < now[i]; n *= 2 {
			fewer := m.part
			fewer.Rounds = slices.Clone(now)
			if fewer.Rounds[i] = n; m.try(fewer) {
				now[i] = n
				break
			}
		}
	}
}

// clients leaves the fewest clients.
func (m *minimizer) clients() {
	m.subset(len(m.whole.Clients), leastClients, func(p *scenarios.Part, kept []int) {
		p.Clients = kept
		if p.Rounds != nil {
			p.Rounds = nil
			for _, client := range kept {
				p.Rounds = append(p.Rounds, m.part.Rounds[client-1])
			}
		}
	})
}

// nodes leaves the fewest nodes.
func (m *minimizer) nodes() {
	m.subset(m.whole.Nodes, leastNodes, func(p *scenarios.Part, kept []int) { p.Nodes = kept })
}

// subset leaves the first of the smallest sets of clients or nodes that asks the same.
func (m *minimizer) subset(n, least int, keep func(p *scenarios.Part, kept []int)) {
	if n > mostSubsets {
		return
	}
	for size := least; size < n; size++ {
		for set := range uint(1) << n {
			if bits.OnesCount(set) != size {
				continue
			}
			fewer := m.part
			if keep(&fewer, members(set)); m.try(fewer) {
				return
			}
		}
	}
}

// mostSubsets is the largest number of clients or nodes of which subsets are tried.
const mostSubsets = 9

// members lists the numbers of the bits that are set, from 1.
func members(set uint) (all []int) {
	for ; set != 0; set &= set - 1 {
		all = append(all, bits.TrailingZeros(set)+1)
	}
	return all
}
