// Package historytest writes histories for tests and benchmarks of their readers: from
// events, from a notation for people, of any length, and compressed.
package historytest

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lockstorm/lockstorm/history"
)

// Text returns a history in its file format.
func Text(h history.Header, events []history.Event) string {
	var b strings.Builder
	w := history.NewWriter(&b, h)
	for i := range events {
		w.Record(&events[i])
	}
	if err := w.Flush(); err != nil {
		panic(err) // an event without a kind is a mistake of the test
	}
	return b.String()
}

// EventsPerGrant is the number of events of each of the [Grants]: the call and the return
// of acquire and of release, which are two operations.
const EventsPerGrant = 4

// Grants writes the history of a lock that ten clients hold in turn, n times, each time
// under a new token of 40 digits. It violates nothing.
func Grants(w io.Writer, n int) error {
	out := history.NewWriter(w, history.Header{
		Scenario: "grants", Lock: "redlock", Nodes: 5, Clients: 10, LongestTTL: time.Second, Allowance: 12 * time.Millisecond, UntilClock: history.ClientClock,
		Bounds: history.Bounds{Acquire: 300 * time.Millisecond, Release: 300 * time.Millisecond, Tries: 3},
	})
	e := history.Event{Resource: "invoice-7"}
	for i := range n {
		e.Client = i%10 + 1
		e.Token = fmt.Sprintf("%016x%016x%08x", uint64(i)*0x9e3779b97f4a7c15, uint64(i)*0xbf58476d1ce4e5b9, uint32(i))
		for _, event := range [EventsPerGrant]history.Event{
			{Kind: history.Acquire, TTL: time.Second},
			{Kind: history.Granted, TTL: time.Second, Until: int64(e.Time) + 987_750_000, Validity: 987_500_000, K: 5},
			{Kind: history.Release},
			{Kind: history.Released, Outcome: history.OK, K: 5},
		} {
			e.Time += 250_000
			event.Time, event.Client, event.Resource, event.Token = e.Time, e.Client, e.Resource, e.Token
			out.Record(&event)
		}
	}
	out.Record(&history.Event{Time: e.Time, Kind: history.End})
	return out.Flush()
}

// Packing is a compression of a history.
type Packing struct {
	Name   string
	Ending string // of a file's name
	Pack   func(io.Writer) io.WriteCloser
}

// Packings are the compressions that can be read, including none.
var Packings = []Packing{
	{"plain", "", func(w io.Writer) io.WriteCloser { return plain{w} }},
	{"gzip", ".gz", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"zstd", ".zst", func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			panic(err) // only invalid options are an error
		}
		return z
	}},
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// Write writes what fill writes, compressed.
func (p Packing) Write(w io.Writer, fill func(io.Writer) error) error {
	packed := p.Pack(w)
	if err := fill(packed); err != nil {
		return err
	}
	return packed.Close()
}
