package nemesis_test

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A plan is data: what happens, from when to when, by the clock or at a step of a
// client.
func ExamplePlan() {
	plan := nemesis.Plan{
		{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{1}, Nodes: []int{4, 5}}}, Start: nemesis.At(0)},
		{Action: &nemesis.Crash{Node: 3}, Start: nemesis.When(1, env.StepGranted, 20*time.Millisecond), End: nemesis.After(0)},
	}
	for _, f := range plan {
		fmt.Println(f)
	}
	// Output:
	// nodes 4 and 5 are cut off, from client 1, from the start, for good
	// node 3 crashes, 20ms after client 1 comes to granted, and that is over at once
}
