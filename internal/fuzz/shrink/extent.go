package shrink

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Extent is how much of a scenario there is to read, for people. (What is smaller than
// what a shrinker tells by a [Size], which has more in it.)
type Extent struct {
	Clients int `json:"clients"`
	Rounds  int `json:"rounds"` // of all clients together
	Nodes   int `json:"nodes"`
	Faults  int `json:"faults"`
	Causes  int `json:"causes"` // faults, but for partitions that last for the whole run
}

// ExtentOf measures a scenario.
func ExtentOf(s scenarios.Scenario) Extent {
	z := SizeOf(s)
	return Extent{Clients: z.Clients, Rounds: z.Rounds, Nodes: z.Nodes, Faults: z.Causes + z.Cuts, Causes: z.Causes}
}

func (z Extent) String() string {
	text := strings.Join([]string{
		textfmt.Count(z.Clients, "client"), textfmt.Count(z.Rounds, "round"),
		textfmt.Count(z.Nodes, "node"), textfmt.Count(z.Faults, "fault"),
	}, ", ")
	if cuts := z.Faults - z.Causes; cuts > 0 {
		text += fmt.Sprintf(" (%d of them a lasting partition)", cuts)
	}
	return text
}
