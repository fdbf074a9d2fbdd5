package fuzz

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Rediscovery is a scenario that expects violations, which are to be found without its plan.
type Rediscovery struct {
	scenarios.Scenario
	Topic string

	// Kinds are the kinds of faults of its plan, in the order of [nemesis.Kinds]. Empty: the
	// clients or the network cause the violation.
	Kinds []nemesis.Kind
}

// Wanted returns the properties that the row expects to be violated.
func (r Rediscovery) Wanted() []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return r.Expect[p] != checker.Violated })
}

// Rediscoveries returns the rows of the debate that expect a violation, in their order. A
// series is represented by its first point that violates its property: the others differ from
// it in the plan, which is not used, or in a number.
func Rediscoveries() []Rediscovery {
	var all []Rediscovery
	add := func(topic string, s scenarios.Scenario) {
		if r := (Rediscovery{Scenario: s, Topic: topic, Kinds: s.Plan.Kinds()}); len(r.Wanted()) > 0 {
			all = append(all, r)
		}
	}
	for _, t := range scenarios.Topics() {
		for _, r := range t.Rows {
			add(t.Name, r.Scenario)
		}
		for _, s := range t.Series {
			i := slices.IndexFunc(s.Points, func(p scenarios.Point) bool { return p.Expect[s.Property] == checker.Violated })
			if i >= 0 {
				add(t.Name, s.Points[i].Scenario)
			}
		}
	}
	return all
}

// network are the network faults, which every hunt may use.
var network = []nemesis.Kind{"partition", "latency", "loss", "reset", "bandwidth", "split"}

// Faults returns the kinds that a hunt for the row draws: those of the row's plan, and network
// faults. With all kinds, another cause would be found first.
func (r Rediscovery) Faults(able nemesis.Ability) (nemesis.Weights, error) {
	w := nemesis.Weights{}
	for _, k := range r.Kinds {
		w[k] = 1
	}
	possible, err := nemesis.Weights(nil).Only(r.World(), able)
	if err != nil {
		return nil, err
	}
	for _, k := range network {
		w[k] = possible[k]
	}
	return w, nil
}

// Hunt returns the hunt for the row's violations: with its lock and its world, without
// assumptions, and caused by a kind of fault that its plan has too.
func (r Rediscovery) Hunt(ctx context.Context, b runner.Backend, most int, seed uint64) (Hunt, error) {
	h := Hunt{
		Backend: b, Space: SpaceAround(r.Scenario), Terms: promises.Unconditional, Wanted: r.Wanted(),
		MaxFaults: most, Seed: seed,
	}
	var err error
	if h.Faults, err = r.Faults(b.Ability); err != nil {
		return h, err
	}
	h.Causes, err = r.causes(ctx, b)
	return h, err
}

// causes returns the kinds of faults that cause the row's violation: those of its plan,
// without network faults unless it has no others. It returns none if the violation also occurs
// without the plan.
func (r Rediscovery) causes(ctx context.Context, b runner.Backend) ([]nemesis.Kind, error) {
	itself := Candidate{Scenario: r.Scenario, Seed: 1}
	due, err := itself.CausedBy(ctx, b, nil, r.Wanted())
	if err != nil || len(due) < len(r.Wanted()) {
		return nil, err
	}
	kinds := slices.DeleteFunc(slices.Clone(r.Kinds), func(k nemesis.Kind) bool { return slices.Contains(network, k) })
	if len(kinds) == 0 {
		return r.Kinds, nil
	}
	return kinds, nil
}
