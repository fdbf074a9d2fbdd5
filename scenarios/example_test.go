package scenarios_test

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Read reads a scenario file, or returns an error with the line of the mistake.
func ExampleRead() {
	_, err := scenarios.Read(strings.NewReader(`
name: mine
lock: {kind: redlock, ttl: 1s, drift_factor: 0.01, node_timeout: 50ms, linger: 0s, margin: 0s, retry: {min: 1ms, max: 5ms}}
clients: [{workload: hold, resource: stock, work: 20ms, rounds: 3}]
`), ".", func(scenarios.Scenario) error { return nil })
	fmt.Println(err)
	// Output:
	// line 4: clients[0].work: there is text: want a mapping, as in {min: …, max: …}
}
