package explore

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Smallest returns the smallest world that asks the same question as a scenario: of its clients at
// least two, of its nodes at least three, few rounds, and all of its faults. It asks the same
// if the runs without deviations show the same verdicts in both. If none does, it is the scenario.
func Smallest(ctx context.Context, s scenarios.Scenario) (scenarios.Scenario, error) {
	m := minimizer{ctx: ctx}
	want, err := m.verdicts(s)
	if err != nil {
		return s, err
	}
	m.want = want
	for _, step := range []func(*minimizer, scenarios.Scenario) scenarios.Scenario{(*minimizer).rounds, (*minimizer).clients, (*minimizer).nodes, (*minimizer).rounds} {
		s = step(&m, s)
	}
	return s, m.err
}

// minimizer looks for a smaller scenario.
type minimizer struct {
	ctx  context.Context
	want map[checker.Property]Verdict
	err  error
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

// verdicts returns what the runs without deviations show.
func (m *minimizer) verdicts(s scenarios.Scenario) (map[checker.Property]Verdict, error) {
	o, err := Explore(m.ctx, s, straight(s), Limits{}, checker.Properties(), nil)
	if err != nil {
		return nil, err
	}
	all := map[checker.Property]Verdict{}
	for _, j := range o.Judged {
		all[j.Property] = j.Verdict
	}
	return all, m.ctx.Err()
}

// same reports whether a scenario asks the same as the first.
func (m *minimizer) same(s scenarios.Scenario, faults int) bool {
	if m.err != nil || len(s.Plan) != faults || s.Validate() != nil {
		return false
	}
	got, err := m.verdicts(s)
	if m.ctx.Err() != nil {
		m.err = m.ctx.Err()
	}
	return err == nil && maps.Equal(got, m.want)
}

// rounds returns the scenario with few rounds of each client: the first power of two that will do.
func (m *minimizer) rounds(s scenarios.Scenario) scenarios.Scenario {
	for i := range s.Clients {
		for n := 1; n < s.Clients[i].Rounds; n *= 2 {
			fewer := s
			fewer.Clients = slices.Clone(s.Clients)
			fewer.Clients[i].Rounds = n
			if m.same(fewer, len(s.Plan)) {
				s = fewer
				break
			}
		}
	}
	return s
}

// clients returns the scenario with the fewest clients.
func (m *minimizer) clients(s scenarios.Scenario) scenarios.Scenario {
	return m.subset(s, len(s.Clients), leastClients, scenarios.Scenario.OnlyClients)
}

// nodes returns the scenario with the fewest nodes.
func (m *minimizer) nodes(s scenarios.Scenario) scenarios.Scenario {
	return m.subset(s, s.Nodes, leastNodes, scenarios.Scenario.OnlyNodes)
}

// subset returns the scenario with the first of the smallest sets of clients or nodes that asks the same.
func (m *minimizer) subset(s scenarios.Scenario, n, least int, only func(scenarios.Scenario, []int) scenarios.Scenario) scenarios.Scenario {
	if n > mostSubsets {
		return s
	}
	for size := least; size < n; size++ {
		for set := range uint(1) << n {
			if bits.OnesCount(set) != size {
				continue
			}
			if fewer := only(s, members(set)); m.same(fewer, len(s.Plan)) {
				return fewer
			}
		}
	}
	return s
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
