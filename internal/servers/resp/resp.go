// Package resp reads and writes the protocol of Redis, RESP2, where go-redis hides what matters:
// what a server has sent instead of a reply, on which connection a command goes, and the stream of
// changes that a master sends to its replicas.
package resp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Encode returns a command as it is sent.
func Encode(words ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(w), w)
	}
	return text.String()
}

// Error is an error that a server has replied, in its own words.
type Error string

func (e Error) Error() string { return string(e) }

// Code returns the first word of the error.
func (e Error) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// UnexpectedError is something that Redis would not send. Text is its beginning.
type UnexpectedError struct{ Text string }

func (e *UnexpectedError) Error() string { return fmt.Sprintf("unexpected reply %q", e.Text) }

// maxQuoted is how many bytes of something unexpected are quoted.
const maxQuoted = 40

// maxReply is the longest text or list that is accepted. INFO has some thousands of bytes, a page of
// keys some tens of thousands.
const maxReply = 1 << 24

// maxDepth is how deep lists may be nested.
const maxDepth = 8

// Reader reads replies, or the commands of a replication stream, which have the same form.
type Reader struct{ *bufio.Reader }

// NewReader returns a reader of what a server sends.
func NewReader(from io.Reader) Reader { return Reader{bufio.NewReader(from)} }

// Next reads a reply: a string, an int64, an [Error], a []any of these, or nil. After an error the
// connection is of no use.
func (r Reader) Next() (any, error) { return r.read(maxDepth) }

// read reads a reply with so many levels of lists at most.
func (r Reader) read(depth int) (any, error) {
	mark, err := r.Peek(1)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsRune("+-:$*", rune(mark[0])) {
		return nil, r.unexpected()
	}
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	text, complete := strings.CutSuffix(line[1:], "\r\n")
	if !complete {
		return nil, &UnexpectedError{firstLine(line)}
	}
	switch line[0] {
	case '+':
		return text, nil
	case '-':
		return Error(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || depth == 0 || n > maxReply && line[0] != ':':
		return nil, &UnexpectedError{firstLine(line)}
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		return r.readText(n)
	}
	return r.readList(n, depth-1)
}

func (r Reader) readText(n int64) (any, error) {
	text := make([]byte, n+2)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	return string(text[:n]), nil
}

func (r Reader) readList(n int64, depth int) (any, error) {
	all := []any{}
	for range n {
		one, err := r.read(depth)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// unexpected quotes what has been received.
func (r Reader) unexpected() error {
	received, _ := r.Peek(r.Buffered())
	return &UnexpectedError{firstLine(string(received))}
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimRight(text, "\r")
	return text[:min(len(text), maxQuoted)]
}

// Command returns the words of the command with which a client's message begins, and the rest of the
// message. ok is false if it does not begin with a whole command.
func Command(piece []byte) (words []string, rest []byte, ok bool) {
	from := bytes.NewReader(piece)
	r := Reader{bufio.NewReaderSize(from, min(len(piece), 512))}
	reply, err := r.Next()
	list, _ := reply.([]any)
	for _, one := range list {
		word, is := one.(string)
		if !is {
			return nil, nil, false
		}
		words = append(words, word)
	}
	return words, piece[len(piece)-from.Len()-r.Buffered():], err == nil && len(words) > 0
}
