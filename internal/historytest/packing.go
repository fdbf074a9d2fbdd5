package historytest

import (
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Packing is a way to compress a history.
type Packing struct {
	Name   string
	Ending string // of a file's name
	Pack   func(io.Writer) io.WriteCloser
}

// Packings are those that are read, plain among them.
var Packings = []Packing{
	{"plain", "", func(w io.Writer) io.WriteCloser { return plain{w} }},
	{"gzip", ".gz", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"zstd", ".zst", func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			panic(err) // of options, and there is none
		}
		return z
	}},
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// Write writes what fill writes, packed.
func (p Packing) Write(w io.Writer, fill func(io.Writer) error) error {
	packed := p.Pack(w)
	if err := fill(packed); err != nil {
		return err
	}
	return packed.Close()
}
