package history

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrTruncated means that a stored history has no end event.
var ErrTruncated = errors.New("the history is cut off: its last event is not \"end\" (if nothing is missing, append {\"t\":T,\"kind\":\"end\"} with the last time T)")

// LineError is a line of a stored history that cannot be read.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// Reader reads a stored history as a stream: memory does not grow with its length.
// Errors name the line ([LineError]); a history without an end event returns
// [ErrTruncated].
//
// From the first Next until Next returns an error, it reads ahead on a goroutine of its own. Call
// Close to stop earlier.
type Reader struct {
	header  Header
	decoder *decoder // of the goroutine, once that runs

	batch *batch
	at    int // of the next event in batch
	line  int
	err   error // what Next returns from now on

	running sync.WaitGroup
	stop    chan struct{}
	full    chan *batch // nil until the first Next
	free    chan *batch
}

// NewReader reads the header.
func NewReader(from io.Reader) (*Reader, error) {
	d := newDecoder(from)
	h, err := d.header()
	if err != nil {
		return nil, err
	}
	return &Reader{header: h, decoder: d, batch: &batch{}, line: 1, stop: make(chan struct{})}, nil
}

// Header returns the header of the history.
func (r *Reader) Header() Header { return r.header }

// Line returns the number of the line that was read last, from 1.
func (r *Reader) Line() int { return r.line }

// Next returns the next event, and [io.EOF] after the end event. The event is valid until the next
// call and must not be changed. After an error Next returns the same error again.
func (r *Reader) Next() (*Event, error) {
	for r.at == len(r.batch.events) {
		if r.err == nil {
			r.err = r.batch.err
		}
		if r.err != nil {
			if of := new(LineError); errors.As(r.err, &of) {
				r.line = of.Line
			}
			return nil, r.err
		}
		r.more()
	}
	e := &r.batch.events[r.at]
	r.at++
	r.line++
	return e, nil
}

// Close stops reading ahead. It waits for a Read of the source in progress, so that the source is
// free afterwards; it does not close the source. Next then returns an error.
func (r *Reader) Close() error {
	if r.err == nil {
		r.err = errors.New("history: the reader is closed")
		r.batch, r.at = &batch{}, 0
		close(r.stop)
	}
	r.running.Wait()
	return nil
}

// batch is the events of consecutive lines, and the error that follows them, if any.
type batch struct {
	events []Event
	err    error
}

// depth is the number of batches: one that is filled, one that is used, and one in between.
const depth = 3

// more gets the next batch.
func (r *Reader) more() {
	if r.full == nil {
		r.full, r.free = make(chan *batch, depth), make(chan *batch, depth)
		for range depth - 1 {
			r.free <- &batch{}
		}
		r.running.Go(r.readAhead)
	}
	r.free <- r.batch
	r.batch, r.at = <-r.full, 0
}

// readAhead fills batches until the first error, which may be the end. A send never waits, because
// each channel has room for all batches.
func (r *Reader) readAhead() {
	for {
		select {
		case b := <-r.free:
			r.decoder.fill(b)
			r.full <- b
			if b.err != nil {
				return
			}
		case <-r.stop:
			return
		}
	}
}
