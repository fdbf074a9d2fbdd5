package jepsen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// maxForm is the largest size of one operation in bytes.
	maxForm = 1 << 20
	// maxDepth bounds the nesting of brackets, because the EDN library recurses.
	maxDepth = 64
)

// lexer finds where elements of EDN text begin and end; the library parses them. So memory holds
// only one operation, and parts that are not judged (a stack trace, an object without a reader) are
// skipped.
type lexer struct {
	r    *bufio.Reader
	line int
	read int    // bytes so far
	most int    // what read must not exceed; 0 between elements
	keep bool   // into form
	form []byte // of the element
	deep int    // discards within discards
}

// wrong is an error in the text, with its line.
func wrong(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

func (l *lexer) next() (byte, error) {
	c, err := l.r.ReadByte()
	if err != nil {
		return 0, err
	}
	l.read++
	if c == '\n' {
		l.line++
	}
	if l.most > 0 && l.read > l.most {
		return 0, wrong(l.line, "an operation is longer than %d bytes", maxForm)
	}
	if l.keep {
		l.form = append(l.form, c)
	}
	return c, nil
}

// peek returns the next byte without taking it.
func (l *lexer) peek() (byte, error) {
	b, err := l.r.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// inside is next where the text must not end.
func (l *lexer) inside(what string) (byte, error) {
	c, err := l.next()
	if errors.Is(err, io.EOF) {
		return 0, wrong(l.line, "the history ends inside %s", what)
	}
	return c, err
}

// blanks separate elements of EDN.
const blanks = " \t\r\n\f\v,"

func blank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

// delimits reports whether c ends a number, a keyword or a symbol.
func delimits(c byte) bool { return blank(c) || strings.IndexByte("()[]{}\";", c) >= 0 }

// skip skips blanks, comments and discarded forms, and returns the first byte of the next element
// without consuming it, or io.EOF.
func (l *lexer) skip() (byte, error) {
	for {
		b, err := l.r.Peek(2)
		switch {
		case len(b) == 0:
			return 0, err
		case blank(b[0]):
			_, err = l.next()
		case b[0] == ';':
			err = l.comment()
		case len(b) == 2 && b[0] == '#' && b[1] == '_':
			err = l.discard()
		default:
			return b[0], nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (l *lexer) comment() error {
	for {
		c, err := l.next()
		if errors.Is(err, io.EOF) || err == nil && c == '\n' {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *lexer) discard() error {
	l.deep++
	defer func() { l.deep-- }()
	if l.most == 0 {
		l.most = l.read + maxForm
		defer func() { l.most = 0 }()
	}
	if l.deep > maxDepth {
		return wrong(l.line, "#_ is nested deeper than %d", maxDepth)
	}
	for range "#_" {
		if _, err := l.next(); err != nil {
			return err
		}
	}
	if _, err := l.skip(); errors.Is(err, io.EOF) {
		return wrong(l.line, "the history ends after #_")
	} else if err != nil {
		return err
	}
	return l.element()
}

// element consumes one element with its tags.
func (l *lexer) element() error {
	for {
		c, err := l.skip()
		if errors.Is(err, io.EOF) {
			return wrong(l.line, "the history ends after a tag")
		}
		if err != nil {
			return err
		}
		switch c {
		case '#':
			if err := l.tag(); err != nil {
				return err
			}
		case '(', '[', '{', '"', '\\':
			return l.balanced()
		case ')', ']', '}':
			return wrong(l.line, "unexpected %q", c)
		default:
			_, err := l.token()
			return err
		}
	}
}

// tag consumes a # and its symbol, but not the tagged element.
func (l *lexer) tag() error {
	if _, err := l.next(); err != nil {
		return err
	}
	if c, err := l.peek(); err == nil && delimits(c) && c != '{' {
		return wrong(l.line, "a # without a tag")
	}
	_, err := l.token()
	return err
}

// token consumes bytes up to the next delimiter, and returns the first ones.
func (l *lexer) token() (string, error) {
	var b strings.Builder
	for {
		c, err := l.peek()
		if errors.Is(err, io.EOF) || err == nil && delimits(c) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		if _, err := l.next(); err != nil {
			return "", err
		}
		if b.Len() < 64 {
			b.WriteByte(c)
		}
	}
}

// balanced consumes a string, a character, or everything from a bracket to the matching one.
func (l *lexer) balanced() error {
	var open [maxDepth]byte // the brackets that are awaited
	depth, begun := 0, l.line
	for {
		c, err := l.inside(fmt.Sprintf("what begins in line %d", begun))
		if err != nil {
			return err
		}
		switch c {
		case '(', '[', '{':
			if depth == maxDepth {
				return wrong(l.line, "brackets are nested deeper than %d", maxDepth)
			}
			open[depth] = closing(c)
			depth++
		case ')', ']', '}':
			if depth == 0 || open[depth-1] != c {
				return wrong(l.line, "%q does not close what is open", c)
			}
			depth--
		case '"':
			err = l.text()
		case '\\':
			err = l.character()
		case ';':
			err = l.comment()
		}
		if err != nil {
			return err
		}
		if depth == 0 {
			return nil
		}
	}
}

func closing(c byte) byte {
	return map[byte]byte{'(': ')', '[': ']', '{': '}'}[c]
}

// text consumes the rest of a string.
func (l *lexer) text() error {
	begun := l.line
	for {
		c, err := l.inside(fmt.Sprintf("the string that begins in line %d", begun))
		if err != nil {
			return err
		}
		if c == '"' {
			return nil
		}
		if c == '\\' {
			if _, err := l.inside("a string"); err != nil {
				return err
			}
		}
	}
}

// character consumes the rest of a character, whose first byte may be a bracket.
func (l *lexer) character() error {
	if _, err := l.inside("a character"); err != nil {
		return err
	}
	_, err := l.token()
	return err
}
