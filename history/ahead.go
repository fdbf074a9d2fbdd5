package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// batch is some events of lines that follow each other, and what stands behind them
// instead of more.
type batch struct {
	events []Event
	err    error
}

// Of blocks and batches there are so many, whatever the length of the history: one that
// is filled, one that is used, and one in between.
const depth = 3

const batchSize = 512

// ahead reads and decodes ahead of who uses the events: one goroutine reads, which for
// compressed input is most of the work, another decodes.
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

// readAhead decodes the lines of first, and then what the source brings.
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

// next returns the next batch, and takes back the one before.
func (a *ahead) next(used *batch) *batch {
	a.freeBatches <- used
	return <-a.batches
}

func (a *ahead) stop() { a.once.Do(func() { close(a.stopped) }) }

// get receives, unless the reading ahead is stopped. There is no such thing for sending:
// each channel has room for all that there is.
func get[T any](a *ahead, from chan T) (v T, ok bool) {
	select {
	case v = <-from:
		return v, true
	case <-a.stopped:
		return v, false
	}
}

// read fills blocks, up to the first error, which may be the end.
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

// decode fills batches, up to the first error, which may be the end.
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

// decoder makes events of lines.
type decoder struct {
	scanner scanner
	order   order
	line    int // that was read last
}

func newDecoder(o order) *decoder {
	return &decoder{scanner: scanner{texts: newTexts()}, order: o, line: 1}
}

// fill fills a batch with the lines of a block, and returns those that are left.
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

// end says what it means that nothing more was read.
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

// cutOff is the error of a line that stops in its middle.
func cutOff(err error, whole bool) error {
	if !whole && errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("malformed: %w, within this line", ErrTruncated)
	}
	return err
}
