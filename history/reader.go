package history

import (
	"bytes"
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
// From the first Next until Next returns an error, it reads ahead on goroutines of its own. Call
// Close to stop earlier.
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

// Line returns the number of the line that was read last, from 1.
func (r *Reader) Line() int { return r.line }

// Next returns the next event, and [io.EOF] after the end event. The event is valid until the next
// call and must not be changed. After an error Next returns the same error again.
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

// more gets the next batch, or the error that follows.
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

// fail releases the data that was read ahead.
func (r *Reader) fail() {
	var of *LineError
	if errors.As(r.err, &of) {
		r.line = of.Line
	}
	if r.ahead != nil {
		r.ahead.stop()
	}
}

// Close stops reading ahead. It waits for a Read of the source in progress, so that the source is
// free afterwards; it does not close the source. Next then returns an error.
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

// batch is the events of consecutive lines, and the error that follows them, if any.
type batch struct {
	events []Event
	err    error
}

// The number of blocks and of batches: one that is filled, one that is used, and one in between.
const depth = 3

const batchSize = 512

// ahead reads and decodes ahead of the caller: one goroutine reads, which is most of the work for
// compressed input, another decodes.
type ahead struct {
	running sync.WaitGroup
	once    sync.Once
	stopped chan struct{}

	blocks      chan block
	freeBlocks  chan []byte
	batches     chan *batch
	freeBatches chan *batch
}

type block struct {
	text []byte
	err  error
}

// readAhead decodes the lines of first, and then those of the source.
func readAhead(from blocks, first []byte, o order) *ahead {
	a := &ahead{
		stopped:     make(chan struct{}),
		blocks:      make(chan block, depth),
		freeBlocks:  make(chan []byte, depth),
		batches:     make(chan *batch, depth),
		freeBatches: make(chan *batch, depth),
	}
	for range depth - 1 { // beside first, and the batch that the reader begins with
		a.freeBlocks <- nil
		a.freeBatches <- &batch{}
	}
	a.running.Go(func() { a.read(from) })
	a.running.Go(func() { a.decode(newDecoder(o), block{text: first}) })
	return a
}

// next returns the next batch, and takes back the previous one.
func (a *ahead) next(used *batch) *batch {
	a.freeBatches <- used
	return <-a.batches
}

func (a *ahead) stop() { a.once.Do(func() { close(a.stopped) }) }

// get receives, unless reading ahead is stopped. Sending needs no such function, because each
// channel has room for all blocks or batches.
func get[T any](a *ahead, from chan T) (v T, ok bool) {
	select {
	case v = <-from:
		return v, true
	case <-a.stopped:
		return v, false
	}
}

// read fills blocks until the first error, which may be the end.
func (a *ahead) read(from blocks) {
	for {
		free, ok := get(a, a.freeBlocks)
		if !ok {
			return
		}
		text, err := from.next(free)
		a.blocks <- block{text, err}
		if err != nil {
			return
		}
	}
}

// decode fills batches until the first error, which may be the end.
func (a *ahead) decode(d *decoder, from block) {
	for rest := from; ; {
		b, ok := get(a, a.freeBatches)
		if !ok {
			return
		}
		rest.text = d.fill(b, rest)
		failed := b.err != nil
		a.batches <- b
		if failed {
			return
		}
		if len(rest.text) > 0 {
			continue
		}
		a.freeBlocks <- from.text
		if from, ok = get(a, a.blocks); !ok {
			return
		}
		rest = from
	}
}

// decoder decodes lines into events.
type decoder struct {
	scanner scanner
	order   order
	line    int // that was read last
}

func newDecoder(o order) *decoder {
	return &decoder{scanner: scanner{texts: newTexts()}, order: o, line: 1}
}

// fill fills a batch with the lines of a block, and returns the remaining lines.
func (d *decoder) fill(b *batch, from block) (rest []byte) {
	clear(b.events) // so that what comes in their place keeps nothing of them
	b.events, b.err = b.events[:0], nil
	for rest = from.text; len(rest) > 0; {
		if len(b.events) == batchSize {
			return rest
		}
		var line []byte
		var whole bool
		line, rest, whole = bytes.Cut(rest, []byte{'\n'})
		d.line++
		b.events = append(b.events, Event{})
		if err := d.event(line, &b.events[len(b.events)-1]); err != nil {
			b.events = b.events[:len(b.events)-1]
			b.err = &LineError{d.line, cutOff(err, whole)}
			return nil
		}
	}
	b.err = d.end(from.err)
	return nil
}

func (d *decoder) event(line []byte, e *Event) error {
	if len(line) > MaxLine {
		return errLongLine
	}
	if !d.scanner.event(line, e) {
		if err := parseEvent(line, e); err != nil {
			return err
		}
	}
	return d.order.next(e)
}

// end returns the error for the end of the input.
func (d *decoder) end(err error) error {
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, io.EOF):
		return &LineError{d.line + 1, err}
	case !d.order.ended:
		return ErrTruncated
	}
	return io.EOF
}

// cutOff is the error for a line that ends in the middle.
func cutOff(err error, whole bool) error {
	if !whole && errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("malformed: %w, within this line", ErrTruncated)
	}
	return err
}

// order checks what every history must satisfy.
type order struct {
	header Header
	last   Time
	ended  bool
}

func (o *order) next(e *Event) error {
	switch {
	case o.ended:
		return errors.New("an event after the end")
	case e.Kind == 0:
		return errors.New("an event without a kind")
	case e.Time < o.last:
		return fmt.Errorf("%s at %v comes after an event at %v: histories are in the order of time", e.Kind, e.Time, o.last)
	case e.Client < 0 || e.Client > o.header.Clients:
		return fmt.Errorf("client %d of %d", e.Client, o.header.Clients)
	case e.Node < 0 || e.Node > o.header.Nodes:
		return fmt.Errorf("node %d of %d", e.Node, o.header.Nodes)
	}
	o.last, o.ended = e.Time, e.Kind == End
	return e.whole()
}

// whole returns an error if the event lacks what its kind requires: client, resource and token.
func (e *Event) whole() error {
	switch {
	case e.Client == 0 && e.Kind.ofClient():
		return fmt.Errorf("%s without a client", e.Kind)
	case !e.Kind.ofHold():
		return nil
	case e.Resource == "":
		return fmt.Errorf("%s without a resource", e.Kind)
	case e.Token == "":
		return fmt.Errorf("%s without a token", e.Kind)
	}
	return nil
}

// ofHold reports whether events of the kind belong to one try, or to its hold.
func (k Kind) ofHold() bool { return k >= Acquire && k <= WriteDone }

// ofClient reports whether events of the kind belong to one client.
func (k Kind) ofClient() bool { return k.ofHold() || k >= Pause && k <= Cancel }
