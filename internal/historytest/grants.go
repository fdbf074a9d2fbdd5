package historytest

import (
	"fmt"
	"io"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// EventsPerGrant is how many events each of [Grants] has: the call and the return of
// acquire and of release, which are two operations.
const EventsPerGrant = 4

// Grants writes the history of a lock that ten clients hold in turn, n times, each time
// under a token of 40 digits that was never there before. It violates nothing.
func Grants(w io.Writer, n int) error {
	out := history.NewWriter(w, history.Header{
		Scenario: "grants", Lock: "redlock", Nodes: 5, Clients: 10, LongestTTL: time.Second, Allowance: 12 * time.Millisecond,
		Bounds: history.Bounds{Acquire: 300 * time.Millisecond, Release: 300 * time.Millisecond, Tries: 3},
	})
	e := history.Event{Resource: "invoice-7"}
	for i := range n {
		e.Client = i%10 + 1
		e.Token = fmt.Sprintf("%016x%016x%08x", uint64(i)*0x9e3779b97f4a7c15, uint64(i)*0xbf58476d1ce4e5b9, uint32(i))
		for _, told := range [EventsPerGrant]history.Event{
			{Kind: history.Acquire, TTL: time.Second},
			{Kind: history.Granted, TTL: time.Second, Until: int64(e.Time) + 987_750_000, Validity: 987_500_000, K: 5},
			{Kind: history.Release},
			{Kind: history.Released, Outcome: history.OK, K: 5},
		} {
			e.Time += 250_000
			told.Time, told.Client, told.Resource, told.Token = e.Time, e.Client, e.Resource, e.Token
			out.Record(&told)
		}
	}
	out.Record(&history.Event{Time: e.Time, Kind: history.End})
	return out.Flush()
}
