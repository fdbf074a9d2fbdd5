package locktest

import (
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
	return c.what().Storms(c.world().Ability, c.Drawn)
}

// what returns the part of the configuration that says what is run.
func (c Config) what() external.Config {
	return external.Config{
		Name: c.Name, Store: c.Store.setting(), Nodes: c.Nodes, Clients: c.Clients, TTL: c.TTL,
		Rounds: c.Rounds, Work: c.Work, Think: c.Think, Extend: c.Extend, Workload: c.Workload,
		Guard: c.Guard, Persistence: c.Persistence, Patience: c.Patience, Bounds: c.Bounds,
	}
}

// scenario returns the scenario of a storm.
func (c Config) scenario(s Storm) scenarios.Scenario { return c.what().Scenario(s) }
