package trophy

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/hunt/shrink"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Size is how much of a scenario there is to read.
type Size struct {
	Clients int `json:"clients"`
	Rounds  int `json:"rounds"` // of all clients together
	Nodes   int `json:"nodes"`
	Faults  int `json:"faults"`
	Causes  int `json:"causes"` // faults, but for partitions that last for the whole run
}

// SizeOf measures a scenario.
func SizeOf(s scenarios.Scenario) Size {
	z := shrink.SizeOf(s)
	return Size{Clients: z.Clients, Rounds: z.Rounds, Nodes: z.Nodes, Faults: z.Causes + z.Cuts, Causes: z.Causes}
}

func (z Size) String() string {
	text := strings.Join([]string{
		words.Count(z.Clients, "client"), words.Count(z.Rounds, "round"),
		words.Count(z.Nodes, "node"), words.Count(z.Faults, "fault"),
	}, ", ")
	if cuts := z.Faults - z.Causes; cuts > 0 {
		text += fmt.Sprintf(" (%d of them a lasting partition)", cuts)
	}
	return text
}
