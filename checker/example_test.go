package checker_test

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

func ExampleChecker() {
	const ms = history.Time(time.Millisecond)
	panel := checker.New(history.Header{Nodes: 5, Clients: 2, LongestTTL: time.Second})
	for _, e := range []history.Event{
		{Time: 0, Kind: history.Acquire, Client: 1, Resource: "r", Token: "3f2a"},
		{Time: 1 * ms, Kind: history.Granted, Client: 1, Resource: "r", Token: "3f2a", Until: 900, Validity: time.Second},
		{Time: 2 * ms, Kind: history.Acquire, Client: 2, Resource: "r", Token: "77c1"},
		{Time: 3 * ms, Kind: history.Granted, Client: 2, Resource: "r", Token: "77c1", Until: 905, Validity: time.Second},
		{Time: 4 * ms, Kind: history.Release, Client: 1, Resource: "r", Token: "3f2a"},
		{Time: 9 * ms, Kind: history.End},
	} {
		panel.Record(&e)
	}
	report := panel.Finish()
	fmt.Println(report.Verdicts()[checker.Lease])
	fmt.Println(report.Finding(checker.Lease).Story())
	// Output:
	// violated
	// client 1 was granted "r" (token 3f2a) at 1ms with 1s of validity left; client 2 was granted "r" (token 77c1) at 3ms; client 1 still held it: the two holds overlap by 1ms, until client 1 called release at 4ms. No fault took place: the lock itself granted it to both, as far as can be told from a history that does not record the nodes' keys
}
