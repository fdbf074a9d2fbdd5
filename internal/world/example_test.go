package world_test

import (
	"fmt"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
)

// Client 1's clock shows the ground time plus 1,000 ns. Its hold lapses at 50
// ns, which is found out when the next event is recorded, at 80.
func ExampleLeaseExpiries() {
	record := func(e *history.Event) { fmt.Println(e.Kind, e.Token, e.Time) }
	ground := func(_ int, _ env.Clock, until env.Instant) history.Time { return history.Time(until - 1000) }
	lapses := world.NewLeaseExpiries(ground, record)

	lapses.Watch(0, 1, env.Monotonic, "stock", "a", 1050)
	lapses.Flush(80)
	record(&history.Event{Kind: history.Release, Token: "a", Time: 80})
	// Output:
	// lapse a 50ns
	// release a 80ns
}
