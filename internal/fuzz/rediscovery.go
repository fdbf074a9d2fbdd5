package fuzz

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Rediscovery is a scenario that expects violations, and is to be found without its plan.
type Rediscovery struct {
	scenarios.Scenario
	Topic string

	// Kinds are the kinds of faults that its plan has, in the order of
	// [nemesis.Kinds]. None: the violation is the work of the clients, or of the network.
	Kinds []nemesis.Kind
}

// Wanted are the properties that the row expects to be violated.
func (r Rediscovery) Wanted() []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool { return r.Expect[p] != checker.Violated })
}

// Rediscoveries returns the rows of the debate that expect a violation, in their order. Of a
// series the first point that violates what the series is about stands for all: the
// others differ from it in the plan, which is forgotten, or in a number.
func Rediscoveries() []Rediscovery {
	var all []Rediscovery
	for _, t := range scenarios.Topics() {
		for _, r := range t.Rows {
			all = add(all, t.Name, r.Scenario)
		}
		for _, s := range t.Series {
			i := slices.IndexFunc(s.Points, func(p scenarios.Point) bool { return p.Expect[s.Property] == checker.Violated })
			if i >= 0 {
				all = add(all, t.Name, s.Points[i].Scenario)
			}
		}
	}
	return all
}

func add(rows []Rediscovery, topic string, s scenarios.Scenario) []Rediscovery {
	r := Rediscovery{Scenario: s, Topic: topic, Kinds: s.Plan.Kinds()}
	if len(r.Wanted()) == 0 {
		return rows
	}
	return append(rows, r)
}

// network is what the network can do, whatever a row is about.
var network = []nemesis.Kind{"partition", "latency", "loss", "reset", "bandwidth", "split"}

// Faults are what a hunt for the row draws: the kinds of the row's plan, and whatever
// the network does. Of all kinds another cause would be found first.
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

// Hunt returns the hunt for what the row expects to be violated: around its lock and
// its world, with nothing assumed, and by a cause that its plan has too.
func (r Rediscovery) Hunt(ctx context.Context, b runner.Backend, most int, seed uint64) (Hunt, error) {
	h := Hunt{
		Backend: b, Ground: SpaceAround(r.Scenario), Terms: AnyTerms, Wanted: r.Wanted(),
		Most: most, Seed: seed,
	}
	var err error
	if h.Faults, err = r.Faults(b.Ability); err != nil {
		return h, err
	}
	h.Causes, err = r.causes(ctx, b)
	return h, err
}

// causes are the kinds of faults that the row blames: those of its plan, but for what the
// network does, which prepares the ground, unless it is all that there is. A row that
// violates something without its plan as well blames none.
func (r Rediscovery) causes(ctx context.Context, b runner.Backend) ([]nemesis.Kind, error) {
	itself := Candidate{Scenario: r.Scenario, Seed: 1}
	due, err := itself.Due(ctx, b, nil, r.Wanted())
	if err != nil || len(due) < len(r.Wanted()) {
		return nil, err
	}
	kinds := slices.DeleteFunc(slices.Clone(r.Kinds), func(k nemesis.Kind) bool { return slices.Contains(network, k) })
	if len(kinds) == 0 {
		return r.Kinds, nil
	}
	return kinds, nil
}
