package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// reader finds the operations of a history, one after another: each in a line
// of its own, or all within one vector or list.
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

// operation returns the text of the next map and the line it begins in, or
// io.EOF. The text is valid until the next call.
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

// Looks reports whether a file that begins with prefix looks like a Jepsen
// history and not like one of Lockstorm, whose every line is a JSON object.
func Looks(prefix []byte) bool {
	for i, c := range prefix {
		switch {
		case blank(c):
		case c == '{':
			rest := bytes.TrimLeft(prefix[i+1:], " \t\r\n,")
			return len(rest) > 0 && rest[0] != '"' && rest[0] != '}'
		default:
			return c == '#' || c == '[' || c == '(' || c == ';'
		}
	}
	return false
}
