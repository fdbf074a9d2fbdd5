package history_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/packed"
)

// BenchmarkReader is the time of one event that is read, and no more.
func BenchmarkReader(b *testing.B) {
	for _, p := range historytest.Packings {
		b.Run(p.Name, func(b *testing.B) {
			var file bytes.Buffer
			if err := p.Write(&file, func(w io.Writer) error { return historytest.Grants(w, 50_000) }); err != nil {
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
	if err != nil && !errors.Is(err, io.EOF) {
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
