package explore

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: the smallest world of a row has all of its faults and is no larger, two clients are left to
// compete, and without deviations it shows what the row is expected to show. In that of delayed-restart
// somebody tries to acquire after the node's return.
func TestSmallestWorlds(t *testing.T) {
	smaller := 0
	for _, s := range scenarios.All() {
		part, err := Smallest(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		small, err := part.Of(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(small.Plan) != len(s.Plan) || len(small.Clients) < min(len(s.Clients), leastClients) || small.Nodes > s.Nodes {
			t.Errorf("%s: %d nodes, %d clients, %d faults", s.Name, small.Nodes, len(small.Clients), len(small.Plan))
		}
		if small.Nodes < s.Nodes {
			smaller++
		}
		o, err := Explore(t.Context(), small, straight(small), Limits{}, checker.Properties(), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantAsExpected(t, s, o)
		if s.Name == "delayed-restart" && o.UntriedReturns > 0 {
			t.Errorf("%s: nobody tries to acquire after the return of the node", s.Name)
		}
	}
	if smaller == 0 {
		t.Error("no world is smaller")
	}
}
