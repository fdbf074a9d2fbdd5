package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
)

// Writer stores a history in JSON Lines: the header, then one event per line. It
// is a [Sink]; the first error stops it and is returned by Flush.
type Writer struct {
	w    *bufio.Writer
	line []byte
	err  error
}

// NewWriter writes the header and returns a writer of the events.
func NewWriter(w io.Writer, h Header) *Writer {
	h.Format, h.Version = Format, Version
	buffered := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	return &Writer{w: buffered, err: enc.Encode(h)}
}

// Record writes one event.
func (w *Writer) Record(e *Event) {
	if w.err != nil {
		return
	}
	if w.line, w.err = appendEvent(w.line[:0], e); w.err == nil {
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

// appendEvent appends the line of an event: the same bytes as encoding/json, in a tenth of the
// time. A test holds it to that.
func appendEvent(b []byte, e *Event) ([]byte, error) {
	if e.Kind == 0 || e.Kind >= kindEnd {
		_, err := e.Kind.MarshalText()
		return b, err
	}
	begin := len(b)
	for i := range fields {
		f := &fields[i]
		switch f.holds {
		case isInt64:
			if n := *at[int64](e, f); n != 0 || f.always {
				b = strconv.AppendInt(appendKey(b, f), n, 10)
			}
		case isInt:
			if n := *at[int](e, f); n != 0 || f.always {
				b = strconv.AppendInt(appendKey(b, f), int64(n), 10)
			}
		case isUint64:
			if n := *at[uint64](e, f); n != 0 || f.always {
				b = strconv.AppendUint(appendKey(b, f), n, 10)
			}
		case isText:
			if s := *at[string](e, f); s != "" || f.always {
				b = appendText(appendKey(b, f), s)
			}
		case isKind:
			b = appendText(appendKey(b, f), kindNames[e.Kind])
		case isOutcome:
			if o := *at[Outcome](e, f); o != 0 || f.always {
				b = appendText(appendKey(b, f), o.String())
			}
		}
	}
	b[begin] = '{' // where the first of them has a comma
	return append(b, '}', '\n'), nil
}

func appendKey(b []byte, f *field) []byte {
	end := len(b) + f.keyLen
	return append(b, f.key[:]...)[:end]
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
