package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"olympos.io/encoding/edn"
)

// reader finds the operations of a history: one per line, or all within one vector or list.
type reader struct {
	lexer
	shut  byte // closes what all of them stand in; 0 if nothing does
	begun int  // its line
	after bool // it has been closed
	first bool // nothing has been read yet
}

func newReader(r io.Reader) *reader {
	return &reader{lexer: lexer{r: bufio.NewReaderSize(r, 1<<16), line: 1}, first: true}
}

// operation returns the text of the next map and the line where it begins, or io.EOF. The text is
// valid until the next call.
func (r *reader) operation() ([]byte, int, error) {
	for {
		r.most = 0
		c, err := r.skip()
		r.most = r.read + maxForm
		if errors.Is(err, io.EOF) {
			return nil, 0, r.ended()
		}
		if err != nil {
			return nil, 0, err
		}
		first := r.first
		r.first = false
		switch {
		case r.after:
			return nil, 0, wrong(r.line, "something follows the end of the history")
		case c == '{':
			return r.take()
		case c == '#':
			err = r.tag() // of a record, or the namespace of its keys
		case first && (c == '[' || c == '('):
			_, err = r.next()
			r.shut, r.begun = closing(c), r.line
		case c == r.shut:
			_, err = r.next()
			r.after = true
		default:
			return nil, 0, r.garbage(c)
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

func (r *reader) ended() error {
	if r.shut != 0 && !r.after {
		return wrong(r.line, "the history ends before the %q that closes line %d", r.shut, r.begun)
	}
	return io.EOF
}

func (r *reader) take() ([]byte, int, error) {
	line := r.line
	r.form, r.keep = r.form[:0], true
	err := r.balanced()
	r.keep = false
	return r.form, line, err
}

func (r *reader) garbage(c byte) error {
	line := r.line
	if delimits(c) {
		return wrong(line, "%q where an operation should begin: a history is maps, each in a line, or one vector of them", c)
	}
	what, err := r.token()
	if err != nil {
		return err
	}
	return wrong(line, "%q where an operation should begin: a history is maps, each in a line, or one vector of them", what)
}

// fields calls give with the text of each key and value of a map.
func fields(text []byte, line int, give func(key, value []byte) error) error {
	l := lexer{r: bufio.NewReaderSize(bytes.NewReader(text), 64), line: line}
	if _, err := l.next(); err != nil {
		return err
	}
	for {
		key, err := l.cut(text)
		if err != nil || key == nil {
			return err
		}
		value, err := l.cut(text)
		if err != nil {
			return err
		}
		if value == nil {
			return wrong(line, "the key %.64q has no value", key)
		}
		if err := give(key, value); err != nil {
			return err
		}
	}
}

// cut returns the next element of a map's text, or nil at its end.
func (l *lexer) cut(text []byte) ([]byte, error) {
	c, err := l.skip()
	if err != nil {
		return nil, err
	}
	if c == '}' {
		return nil, nil
	}
	from := l.read
	if err := l.element(); err != nil {
		return nil, err
	}
	return text[from:l.read], nil
}

// Looks reports whether a file that begins with prefix looks like a Jepsen history, and not like
// JSON. Every line of a history of Lockstorm is a JSON object.
func Looks(prefix []byte) bool {
	rest := bytes.TrimLeft(prefix, blanks)
	if bytes.HasPrefix(rest, []byte("[")) { // a vector, or an array
		if rest = bytes.TrimLeft(rest[1:], blanks); len(rest) == 0 || rest[0] == ']' {
			return len(rest) > 0
		}
	}
	switch {
	case len(rest) == 0:
		return false
	case rest[0] == '{':
		rest = bytes.TrimLeft(rest[1:], blanks)
		return len(rest) > 0 && rest[0] != '"' && rest[0] != '}'
	}
	return bytes.IndexByte([]byte("#(;"), rest[0]) >= 0
}

// record is one map of a history: an invocation, a completion, or an action of the nemesis.
type record struct {
	line    int
	kind    string // invoke, ok, fail, info
	process any    // int64 of a client
	f       string
	value   any
	valued  bool // it has a :value, if only nil
	index   int64
	indexed bool
}

// records reads a history record by record.
type records struct {
	*reader
	memory memory
	last   record // with an index
}

// read returns the next record, or io.EOF.
func (r *records) read() (record, error) {
	text, line, err := r.operation()
	if err != nil {
		return record{}, err
	}
	rec := record{line: line}
	err = fields(text, line, func(key, value []byte) error { return rec.set(r.memory, key, value) })
	if err != nil {
		return record{}, err
	}
	return rec, r.check(rec)
}

// set stores a field that is judged. All others, and their values, are ignored.
func (rec *record) set(m memory, key, value []byte) error {
	name, is := strings.CutPrefix(string(key), ":")
	if !is {
		return nil
	}
	switch bare(name) {
	case "type", "f", "process", "value":
	case "index":
		return rec.number(value)
	default:
		return nil
	}
	v, err := m.decode(value, rec.line)
	if err != nil {
		return err
	}
	switch bare(name) {
	case "type":
		rec.kind = word(v)
	case "f":
		rec.f = word(v)
	case "process":
		rec.process = v
	case "value":
		rec.value, rec.valued = v, true
	}
	return nil
}

func (rec *record) number(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return wrong(rec.line, ":index %.64q is no number", text)
	}
	rec.index, rec.indexed = n, n >= 0 // -1 stands for none
	return nil
}

// bare is a keyword without its namespace.
func bare(keyword string) string {
	return keyword[strings.LastIndexByte(keyword, '/')+1:]
}

// word is a keyword or symbol without its namespace, or the text of any other value.
func word(v any) string {
	switch v := v.(type) {
	case edn.Keyword:
		return bare(string(v))
	case edn.Symbol:
		return bare(string(v))
	}
	return show(v)
}

func (r *records) check(rec record) error {
	switch rec.kind {
	case "invoke", "ok", "fail", "info":
	case "":
		return wrong(rec.line, "an operation without :type")
	default:
		return wrong(rec.line, ":type %.64s: want :invoke, :ok, :fail or :info", rec.kind)
	}
	if rec.process == nil {
		return wrong(rec.line, "an operation without :process")
	}
	if !rec.indexed {
		return nil
	}
	if r.last.indexed && rec.index <= r.last.index {
		return wrong(rec.line, ":index %d follows %d of line %d: the history is not in its order", rec.index, r.last.index, r.last.line)
	}
	r.last = rec
	return nil
}

// client returns the process number of a client. The nemesis and its like have names.
func (rec record) client() (int64, bool) {
	n, ok := rec.process.(int64)
	return n, ok
}
