// Package packed reads what somebody has compressed to save space: the plain bytes of
// plain, gzip and zstd input alike. It looks at the first bytes and not at a name, so
// that a pipe is read as a file is, and knows nothing of what the bytes say.
package packed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// MaxWindow is the largest distance, in bytes, of a reference in zstd input, which bounds the
// memory for reading. It is the largest that the zstd program reads by default, and the one that
// "zstd --long" writes.
const MaxWindow = 128 << 20

// A form of compressed input is known by its first bytes.
type form struct {
	name string
	is   func(head []byte) bool
	open func(io.Reader) (io.ReadCloser, error)
}

var forms = []form{
	{"gzip", isGzip, func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", isZstd, openZstd},
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// isZstd knows a frame, and what parallel compressors write before it: one to be skipped.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) == 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18})
}

// openZstd decodes on the caller's goroutine: who wants to decode beside other work
// has a goroutine of his own to do it on, and to end.
func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(MaxWindow), zstd.WithDecoderMaxMemory(MaxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// Reader returns the plain bytes of input that is plain, gzip or zstd, of one or of
// several streams one after another. Input that is damaged or cut off is an error that
// says so, never an end. Memory is bounded, by [MaxWindow] and not by how much the
// input expands to. Close frees what decoding took; it does not close r.
func Reader(r io.Reader) (io.ReadCloser, error) {
	from := &source{r: r}
	// A history is judged a seventh faster if gzip reads from a bufio.Reader, and not from a
	// reader of another type.
	buffered := bufio.NewReaderSize(from, 1<<16)
	head, err := buffered.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, f := range forms {
		if !f.is(head) {
			continue
		}
		plain, err := f.open(buffered)
		if err != nil {
			return nil, broken(f.name, err, from.err)
		}
		return &unpacked{plain: plain, name: f.name, from: from}, nil
	}
	return io.NopCloser(buffered), nil
}

// source keeps the error of the input itself apart from what decoding finds.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// unpacked says what is wrong with the input it decodes.
type unpacked struct {
	plain io.ReadCloser
	name  string
	from  *source
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.plain.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = broken(u.name, err, u.from.err)
	}
	return n, err
}

// Close returns no error: Read has returned those of the input.
func (u *unpacked) Close() error {
	_ = u.plain.Close()
	return nil
}

// ErrBroken is the error of compressed input that is damaged or cut off.
var ErrBroken = errors.New("the compressed input cannot be read")

func broken(name string, err, of error) error {
	switch {
	case of != nil:
		return of
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the %s stream is cut off", ErrBroken, name)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%w: the %s stream wants more than %d MiB of memory", ErrBroken, name, MaxWindow>>20)
	}
	return fmt.Errorf("%w: the %s stream is damaged (%w)", ErrBroken, name, err)
}
