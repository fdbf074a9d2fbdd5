package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrTruncated is the error of a stored history that has no end event.
var ErrTruncated = errors.New("the history is cut off: its last event is not \"end\"")

// LineError is a line of a stored history that cannot be read.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// Reader reads a stored history as a stream: memory does not grow with its length.
// Errors name the line ([LineError]); a history that stops before its end event is
// [ErrTruncated].
//
// It reads ahead on goroutines of its own, from the first Next until Next returns an
// error. Who stops earlier calls Close.
type Reader struct {
	header Header
	blocks blocks
	first  []byte // lines that came with the header's
	ahead  *ahead

	batch *batch
	at    int // of the next event in batch
	line  int
	err   error // what Next returns from now on
}

// NewReader reads the header.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{blocks: blocks{from: from}, line: 1, batch: &batch{}}
	text, err := r.blocks.next(nil)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the history is empty")
	}
	if err != nil {
		return nil, &LineError{1, err}
	}
	line, rest, whole := bytes.Cut(text, []byte{'\n'})
	r.first = rest
	if len(line) > MaxLine {
		return nil, &LineError{1, errLongLine}
	}
	if r.header, err = parseHeader(line); err != nil {
		return nil, &LineError{1, cutOff(err, whole)}
	}
	return r, nil
}

// Header returns the header of the history.
func (r *Reader) Header() Header { return r.header }

// Line returns the number of the line, from 1, that was read last.
func (r *Reader) Line() int { return r.line }

// Next returns the next event; after the last, which is the end, [io.EOF]. The event
// is valid until the next call, and not to be changed. After an error Next returns it
// again.
func (r *Reader) Next() (*Event, error) {
	for r.at == len(r.batch.events) {
		if !r.more() {
			return nil, r.err
		}
	}
	e := &r.batch.events[r.at]
	r.at++
	r.line++
	return e, nil
}

// more gets the next batch, or the error that there is instead.
func (r *Reader) more() bool {
	if r.err == nil {
		r.err = r.batch.err
	}
	if r.err != nil {
		r.fail()
		return false
	}
	if r.ahead == nil {
		r.ahead = readAhead(r.blocks, r.first, order{header: r.header})
	}
	r.batch, r.at = r.ahead.next(r.batch), 0
	return true
}

// fail lets go of what has been read ahead.
func (r *Reader) fail() {
	var of *LineError
	if errors.As(r.err, &of) {
		r.line = of.Line
	}
	if r.ahead != nil {
		r.ahead.stop()
	}
}

// Close ends the reading ahead. It waits for a Read of the source that is under way, so
// that the source is free afterwards; it does not close it. Next then returns an error.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = errors.New("history: the reader is closed")
		r.batch, r.at = &batch{}, 0
	}
	if r.ahead != nil {
		r.ahead.stop()
		r.ahead.running.Wait()
	}
	return nil
}
