package locktest

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Storm is a plan of faults and how it is run. Fields that are 0 leave what [Config] says.
type Storm = scenarios.Storm

// LoadStorm reads a storm from a file: see [scenarios.LoadStorm].
func LoadStorm(path string) (Storm, error) { return scenarios.LoadStorm(path) }

// Storms returns the default storms for the nodes, the TTL and the backend of a
// configuration: those that the backend and the store support and that make sense with that many
// nodes.
func Storms(c Config) []Storm {
	list, _ := storms(c.filled(""))
	return list
}

// storms returns the default storms, and why others are left out.
func storms(c Config) (list []Storm, refused []string) {
	all, refused := c.what().Storms(c.world().Ability, c.Drawn)
	for _, s := range all {
		if err := c.Store.checkTTL(s.TTL); err != nil {
			refused = append(refused, fmt.Sprintf("%s (%v)", s.Name, err))
			continue
		}
		list = append(list, s)
	}
	return list, refused
}

// withDrawn returns chosen storms with so many generated plans, unless the storm of these is among them.
func withDrawn(chosen []Storm, plans int) []Storm {
	drawn := external.Drawn(plans)
	if slices.ContainsFunc(chosen, func(s Storm) bool { return s.Name == drawn.Name }) {
		return chosen
	}
	return append(slices.Clone(chosen), drawn)
}

// what returns the part of the configuration that says what is run.
func (c Config) what() external.Config {
	return external.Config{
		Name: c.Name, Store: c.Store.setting(), Nodes: c.Nodes, Clients: c.Clients, Capacity: c.Capacity, Callers: c.Callers, TTL: c.TTL,
		Rounds: c.Rounds, Work: c.Work, Think: c.Think, Extend: c.Extend, Workload: c.Workload,
		Guard: c.Guard, Persistence: c.Persistence, Patience: c.Patience, Bounds: c.Bounds,
		Clocks: true, Virtual: c.world().bubble,
	}
}

// scenario returns the scenario of a storm.
func (c Config) scenario(s Storm) scenarios.Scenario { return c.what().Scenario(s) }
