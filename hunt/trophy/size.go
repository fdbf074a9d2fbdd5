package trophy

import (
	"strings"

	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Size is how much of a scenario there is to read.
type Size struct {
	Clients int `json:"clients"`
	Rounds  int `json:"rounds"` // of all clients together
	Nodes   int `json:"nodes"`
	Faults  int `json:"faults"`
}

// SizeOf measures a scenario.
func SizeOf(s scenarios.Scenario) Size {
	z := Size{Clients: len(s.Clients), Nodes: s.Nodes, Faults: len(s.Plan)}
	for _, c := range s.Clients {
		z.Rounds += c.Rounds
	}
	return z
}

func (z Size) String() string {
	return strings.Join([]string{
		words.Count(z.Clients, "client"), words.Count(z.Rounds, "round"),
		words.Count(z.Nodes, "node"), words.Count(z.Faults, "fault"),
	}, ", ")
}
