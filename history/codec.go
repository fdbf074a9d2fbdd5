package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line, in bytes, that a [Reader] accepts.
const MaxLine = 1 << 20

// Writer stores a history in JSON Lines: the header, then an event a line. It
// is a [Sink]; the first error stops it and is returned by Flush.
type Writer struct {
	w   *bufio.Writer
	enc *json.Encoder
	err error
}

// NewWriter writes the header and returns a writer of the events.
func NewWriter(w io.Writer, h Header) *Writer {
	h.Format, h.Version = Format, Version
	buffered := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	return &Writer{w: buffered, enc: enc, err: enc.Encode(h)}
}

// Record writes one event.
func (w *Writer) Record(e *Event) {
	if w.err == nil {
		w.err = w.enc.Encode(e)
	}
}

// Flush writes what is buffered and returns the first error of all.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

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
type Reader struct {
	lines  *bufio.Scanner
	line   int
	header Header
	order  order
	event  Event
}

// NewReader reads the header.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{lines: bufio.NewScanner(from)}
	r.lines.Buffer(make([]byte, 0, 1<<16), MaxLine)
	r.line++
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			return nil, r.fail(err)
		}
		return nil, errors.New("the history is empty")
	}
	var err error
	if r.header, err = parseHeader(r.lines.Bytes()); err != nil {
		return nil, r.fail(err)
	}
	r.order = order{header: r.header}
	return r, nil
}

// Header returns the header of the history.
func (r *Reader) Header() Header { return r.header }

// Line returns the number of the line, from 1, that was read last.
func (r *Reader) Line() int { return r.line }

func (r *Reader) fail(err error) error { return &LineError{Line: r.line, Err: err} }

// Next returns the next event; after the last, which is the end, [io.EOF]. The event
// is valid until the next call.
func (r *Reader) Next() (*Event, error) {
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			r.line++
			return nil, r.fail(err)
		}
		if !r.order.ended {
			return nil, ErrTruncated
		}
		return nil, io.EOF
	}
	r.line++
	r.event = Event{}
	if err := strict(r.lines.Bytes(), &r.event); err != nil {
		return nil, r.fail(err)
	}
	if err := r.order.next(&r.event); err != nil {
		return nil, r.fail(err)
	}
	return &r.event, nil
}

func parseHeader(line []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil || h.Format != Format {
		return h, fmt.Errorf("not a history: the first line is not a header with \"format\":%q", Format)
	}
	if h.Version != Version {
		return h, fmt.Errorf("this history has format version %d; this program reads version %d", h.Version, Version)
	}
	if err := strict(line, &h); err != nil {
		return h, err
	}
	return h, h.validate()
}

func strict(line []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("malformed: %w", err)
	}
	if dec.More() {
		return errors.New("malformed: more than one value on the line")
	}
	return nil
}

// order checks what must hold of any history, whatever it tells.
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
	return nil
}
