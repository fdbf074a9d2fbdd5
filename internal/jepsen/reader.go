package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"olympos.io/encoding/edn"
)

// maxEntry is the largest size of one map in bytes. It also bounds how deep the EDN library
// recurses.
const maxEntry = 1 << 20

// blanks separate elements of EDN.
const blanks = " \t\r\n\f\v,"

// wrong is an error in the text, with its line.
func wrong(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

// Looks reports whether a file that begins with prefix looks like a Jepsen history, and not like
// JSON: a map of EDN begins with a keyword.
func Looks(prefix []byte) bool {
	rest := bytes.TrimLeft(prefix, blanks+"[(")
	if in, is := bytes.CutPrefix(rest, []byte("{")); is {
		return bytes.HasPrefix(bytes.TrimLeft(in, blanks), []byte(":"))
	}
	return len(rest) > 0 && (rest[0] == '#' || rest[0] == ';')
}

// lines hands out a text line by line, so that the decoder has never read further than the line of
// its last element.
type lines struct {
	from *bufio.Reader
	rest []byte // of the current line
	line int
	open bool // the current line goes on in the next piece
	left int  // bytes that the current entry may still have
}

// address is the hash code of an object without a reader, which is no EDN.
var address = regexp.MustCompile(`#object\[\S+ 0x`)

func (l *lines) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		piece, err := l.from.ReadSlice('\n')
		if len(piece) == 0 && err != nil {
			return 0, err
		}
		if !l.open {
			l.line++
		}
		l.open = piece[len(piece)-1] != '\n'
		for _, at := range address.FindAllIndex(piece, -1) {
			piece[at[1]-2] = ':' // a keyword of the same length
		}
		l.rest = piece
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("longer than %d bytes", maxEntry)
	}
	return n, nil
}

// record is one map of a history: an invocation, a completion, or an action of the nemesis.
type record struct {
	Type    any            `edn:"type"` // :invoke, :ok, :fail or :info
	Process any            `edn:"process"`
	F       any            `edn:"f"`
	Value   edn.RawMessage `edn:"value"` // decoded only for clients: the nemesis has any
	line    int
}

// reader reads the maps of a history: all at the top level, or all within one vector or list.
type reader struct {
	lines *lines
	text  *bufio.Reader // lines, shared with the decoder
	edn   *edn.Decoder
	shut  byte // closes what all maps stand in; 0 if nothing does
	begun bool
}

func newReader(from io.Reader) *reader {
	l := &lines{from: bufio.NewReaderSize(from, 1<<16)}
	r := &reader{lines: l, text: bufio.NewReader(l)}
	r.edn = edn.NewDecoder(r.text)
	r.edn.MustAddTagFn("jepsen.history.Op", func(r record) (record, error) { return r, nil })
	return r
}

// next returns the next record, or io.EOF.
func (r *reader) next() (rec record, err error) {
	defer func() {
		if p := recover(); p != nil { // of the library
			err = fmt.Errorf("%v", p)
		}
		if errors.Is(err, io.EOF) && r.shut != 0 {
			err = fmt.Errorf("the history ends without %q", r.shut)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			err = wrong(max(r.lines.line, 1), "%w", err)
		}
	}()
	r.lines.left = maxEntry
	c, err := r.peek()
	if err == nil && !r.begun && (c == '[' || c == '(') {
		r.shut = map[byte]byte{'[': ']', '(': ')'}[c]
		_, _ = r.text.Discard(1)
		c, err = r.peek()
	}
	r.begun = true
	switch {
	case err != nil:
		return rec, err
	case c == r.shut:
		r.shut = 0
		_, _ = r.text.Discard(1)
		if _, err = r.peek(); err == nil {
			err = errors.New("something follows the end of the history")
		}
		return rec, err
	}
	rec.line = r.lines.line
	if err = r.edn.Decode(&rec); err != nil && !errors.Is(err, io.EOF) { // after a comment there may be nothing
		err = fmt.Errorf("cannot be read as EDN: %w", err)
	}
	return rec, err
}

// peek skips blanks and returns the next byte without taking it.
func (r *reader) peek() (byte, error) {
	for {
		c, err := r.text.Peek(1)
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(blanks, c[0]) < 0 {
			return c[0], nil
		}
		_, _ = r.text.Discard(1)
		r.lines.left++
	}
}

// client returns the number of the process of a client. The nemesis and its like have names.
func (r record) client() (process int64, is bool, err error) {
	switch word(r.Type) {
	case "":
		err = errors.New("an operation without :type")
	case "invoke", "ok", "fail", "info":
	default:
		err = fmt.Errorf(":type %.64s: want :invoke, :ok, :fail or :info", word(r.Type))
	}
	if err == nil && r.Process == nil {
		err = errors.New("an operation without :process")
	}
	process, is = r.Process.(int64)
	return process, is, err
}

// value returns the value of a client's record.
func (r record) value() (v any, err error) {
	if len(r.Value) > 0 {
		err = edn.Unmarshal(r.Value, &v)
	}
	if err != nil {
		err = fmt.Errorf(":value %.64q: %w", r.Value, err)
	}
	return v, err
}

// word is the text of a keyword or symbol without its namespace.
func word(v any) string {
	switch v.(type) {
	case edn.Keyword, edn.Symbol:
		s := strings.TrimPrefix(fmt.Sprint(v), ":")
		return s[strings.LastIndexByte(s, '/')+1:]
	}
	return ""
}

// tuple returns a pair of values, with or without a tag.
func tuple(v any) (first, second any, ok bool) {
	if tag, tagged := v.(edn.Tag); tagged {
		v = tag.Value
	}
	if list, is := v.([]any); is && len(list) == 2 {
		return list[0], list[1], true
	}
	return nil, nil, false
}

// show prints a value as EDN.
func show(v any) string {
	text, err := edn.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
