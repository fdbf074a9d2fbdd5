package history

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// MaxLine is the longest line, in bytes without its end, that a [Reader] accepts.
const MaxLine = 1 << 20

// blockSize is how much is read at a time.
const blockSize = 1 << 18

var errLongLine = errors.New("longer than 1 MiB, which no line of a history is")

// blocks cuts a stream into blocks of whole lines, so that lines can be decoded many
// at a time and a line is copied at most once.
type blocks struct {
	from io.Reader
	rest []byte // the begin of a line whose end has not been read
	err  error  // why there is no more to read
}

// next returns the next lines, written over buf: at least one, each with its line break,
// which only the last line of all may lack. Then [io.EOF], or what else stops the
// reading at the line that would be next. What it returns and keeps is bounded by
// [MaxLine].
func (b *blocks) next(buf []byte) ([]byte, error) {
	buf = append(buf[:0], b.rest...)
	b.rest = b.rest[:0]
	for looked := 0; ; {
		if end := bytes.LastIndexByte(buf[looked:], '\n'); end >= 0 {
			end += looked + 1
			b.rest = append(b.rest, buf[end:]...)
			return buf[:end], nil
		}
		looked = len(buf)
		switch {
		case len(buf) > MaxLine:
			return buf[:0], errLongLine
		case errors.Is(b.err, io.EOF) && len(buf) > 0:
			return buf, nil
		case b.err != nil:
			return buf[:0], b.err
		}
		buf = b.read(buf)
	}
}

// patience is how many reads in a row may bring nothing.
const patience = 100

// read appends what one read brings.
func (b *blocks) read(buf []byte) []byte {
	if cap(buf)-len(buf) < blockSize/4 {
		buf = slices.Grow(buf, blockSize)
	}
	for range patience {
		n, err := b.from.Read(buf[len(buf):cap(buf)])
		buf, b.err = buf[:len(buf)+n], err
		if n > 0 || err != nil {
			return buf
		}
	}
	b.err = io.ErrNoProgress
	return buf
}
