package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"
)

// Writer stores a history in JSON Lines: the header, then one event per line. It
// is a [Sink]; the first error stops it and is returned by Flush.
type Writer struct {
	w      *bufio.Writer
	line   []byte
	event  Event // the one that is written
	fields []field
	err    error
}

// NewWriter writes the header and returns a writer of the events.
func NewWriter(w io.Writer, h Header) *Writer {
	h.Format, h.Version = Format, Version
	buffered := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	out := &Writer{w: buffered, err: enc.Encode(h)}
	out.fields = fieldsOf(&out.event)
	return out
}

// Record writes one event.
func (w *Writer) Record(e *Event) {
	if w.err != nil {
		return
	}
	if w.line, w.err = w.appendEvent(w.line[:0], e); w.err == nil {
		_, w.err = w.w.Write(w.line)
	}
}

// Flush writes what is buffered and returns the first error.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// appendEvent appends the line of an event: the same bytes as encoding/json, in a fraction of the
// time. A test holds it to that.
func (w *Writer) appendEvent(b []byte, e *Event) ([]byte, error) {
	if e.Kind == 0 || e.Kind >= kindEnd {
		_, err := e.Kind.MarshalText()
		return b, err
	}
	w.event = *e
	begin := len(b)
	for i := range w.fields {
		f := &w.fields[i]
		switch at := f.at.(type) {
		case *Time:
			b = f.appendInt(b, int64(*at))
		case *time.Duration:
			b = f.appendInt(b, int64(*at))
		case *int64:
			b = f.appendInt(b, *at)
		case *int:
			b = f.appendInt(b, int64(*at))
		case *uint64:
			if *at != 0 {
				b = strconv.AppendUint(append(b, f.key...), *at, 10)
			}
		case *string:
			if *at != "" {
				b = appendText(append(b, f.key...), *at)
			}
		case *Kind:
			b = appendText(append(b, f.key...), kindNames[*at])
		case *Outcome:
			if *at != 0 {
				b = appendText(append(b, f.key...), at.String())
			}
		}
	}
	b[begin] = '{' // where the first of them has a comma
	return append(b, '}', '\n'), nil
}

func (f *field) appendInt(b []byte, n int64) []byte {
	if n == 0 && !f.always {
		return b
	}
	return strconv.AppendInt(append(b, f.key...), n, 10)
}

func appendText(b []byte, text string) []byte {
	if !plain(text) {
		return appendEscaped(b, text)
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}

// plain reports whether a text needs no escapes in JSON.
func plain(text string) bool {
	for i := range len(text) {
		if !plainBytes[text[i]] {
			return false
		}
	}
	return true
}

var plainBytes = func() (is [256]bool) {
	for c := ' '; c <= '~'; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// appendEscaped appends a text that needs escapes, with encoding/json.
func appendEscaped(b []byte, text string) []byte {
	var escaped bytes.Buffer
	enc := json.NewEncoder(&escaped)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // of a string there is no error
	return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte{'\n'})...)
}
