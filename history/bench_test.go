package history_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/packed"
)

// grants writes n grants, of four events each, that clients take in turn: with tokens
// that nothing else has, as locks make them.
func grants(w io.Writer, n int) error {
	out := history.NewWriter(w, history.Header{Nodes: 5, Clients: 10, LongestTTL: time.Second})
	e := history.Event{Resource: "invoice-7", TTL: time.Second}
	for i := range n {
		e.Client = i%10 + 1
		e.Token = fmt.Sprintf("%016x%016x%08x", uint64(i)*0x9e3779b97f4a7c15, uint64(i)*0xbf58476d1ce4e5b9, uint32(i))
		for _, kind := range []history.Kind{history.Acquire, history.Granted, history.Release, history.Released} {
			e.Time += 250_000
			e.Kind, e.Until, e.Validity, e.K, e.Outcome = kind, 0, 0, 0, 0
			switch kind {
			case history.Granted:
				e.Until, e.Validity, e.K = int64(e.Time)+987_000_000, 987_000_000, 5
			case history.Released:
				e.Outcome, e.K = history.OK, 5
			}
			out.Record(&e)
		}
	}
	out.Record(&history.Event{Time: e.Time, Kind: history.End})
	return out.Flush()
}

var packers = []struct {
	name string
	pack func(io.Writer) io.WriteCloser
}{
	{"plain", func(w io.Writer) io.WriteCloser { return plainWriter{w} }},
	{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"zstd", func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }},
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

// BenchmarkReader is the time of one event that is read, and no more.
func BenchmarkReader(b *testing.B) {
	for _, p := range packers {
		b.Run(p.name, func(b *testing.B) {
			var file bytes.Buffer
			w := p.pack(&file)
			if err := grants(w, 50_000); err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; {
				plain, err := packed.Reader(bytes.NewReader(file.Bytes()))
				if err != nil {
					b.Fatal(err)
				}
				done += readUpTo(b, plain, b.N-done)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func readUpTo(b *testing.B, from io.ReadCloser, most int) (n int) {
	r, err := history.NewReader(from)
	for err == nil && n < most {
		if _, err = r.Next(); err == nil {
			n++
		}
	}
	if err != nil && err != io.EOF {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	if err := from.Close(); err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkWriter is the time of one event that is written.
func BenchmarkWriter(b *testing.B) {
	b.ReportAllocs()
	w := history.NewWriter(io.Discard, history.Header{Nodes: 5, Clients: 10})
	e := history.Event{Time: 1_345_524, Kind: history.Granted, Client: 2, Resource: "invoice-7", Token: "3784bf3b69216aa55f06eaf22ff9cadfceb93de6", TTL: time.Second, Until: 988_000_000, Validity: 986_654_476, K: 5}
	for range b.N {
		w.Record(&e)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
