package redisnode

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawReply draws a reply in Redis' second protocol.
func drawReply(t *rapid.T, depth int) string {
	word := rapid.StringMatching(`[a-z]{0,9}`)
	kinds := []string{"+", "-", ":", "$", "null", "*"}
	if depth == 0 {
		kinds = kinds[:5]
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "$":
		text := rapid.StringN(0, 20, 40).Draw(t, "text")
		return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
	case "null":
		return "$-1\r\n"
	case "*":
		n := rapid.IntRange(0, 4).Draw(t, "length")
		var b strings.Builder
		fmt.Fprintf(&b, "*%d\r\n", n)
		for range n {
			b.WriteString(drawReply(t, depth-1))
		}
		return b.String()
	default:
		return kind + word.Draw(t, "word") + "\r\n"
	}
}

// A reply is read as it came, and nothing of what comes behind it.
func TestOneReplyIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawReply(t, 2), drawReply(t, 2)
		r := bufio.NewReader(strings.NewReader(first + second))
		for _, want := range []string{first, second} {
			got, err := readReply(r, nil)
			if err != nil || string(got) != want {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
		}
	})
}

func TestWhatIsNoReply(t *testing.T) {
	for _, text := range []string{
		"", "+OK", "HTTP/1.1 400 Bad Request\r\n", "\r\n", "$x\r\n", "*99999999\r\n", "$5\r\nab\r\n", "*2\r\n+OK\r\n",
	} {
		if got, err := readReply(bufio.NewReader(strings.NewReader(text)), nil); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
	}
}

// spoken is a connection that keeps what is written to it, and on which something is to be
// read.
type spoken struct {
	net.Conn
	written bytes.Buffer
	said    io.Reader
}

func (c *spoken) Write(p []byte) (int, error) { return c.written.Write(p) }
func (c *spoken) Read(p []byte) (int, error)  { return c.said.Read(p) }
func (c *spoken) SetDeadline(time.Time) error { return nil }
func (c *spoken) Close() error                { return nil }

func speaking(text string) *spoken { return &spoken{said: strings.NewReader(text)} }

// hello is what go-redis says.
func hello(words ...string) []byte { return encode(append([]string{"hello"}, words...)) }

// The HELLO that was said is kept back, and nothing else: whatever go-redis says first, each
// command that reaches the node has its answer, in their order.
func TestNothingButHelloIsKeptBack(t *testing.T) {
	ping := encode([]string{"ping"})
	for name, c := range map[string]struct {
		password      string
		write, passed []byte
		read          string
	}{
		"HELLO":                       {"", hello("2"), nil, "+HI\r\n"},
		"HELLO with a password":       {"secret", hello("2", "auth", "default", "secret"), nil, "+HI\r\n"},
		"HELLO and more in one write": {"", append(hello("2"), ping...), ping, "+HI\r\n+PONG\r\n"},
		"another HELLO":               {"", hello("3"), hello("3"), "+PONG\r\n"},
		"HELLO and a name":            {"", hello("2", "setname", "x"), hello("2", "setname", "x"), "+PONG\r\n"},
		"a part of HELLO":             {"", hello("2")[:9], hello("2")[:9], "+PONG\r\n"},
		"another command":             {"", ping, ping, "+PONG\r\n"},
	} {
		node := speaking("+PONG\r\n")
		conn := &greeted{Conn: node, hello: newGreeter(Options{Password: c.password}).hello, answer: []byte("+HI\r\n")}
		if n, err := conn.Write(c.write); n != len(c.write) || err != nil {
			t.Errorf("%s: %d of %d bytes were written, %v", name, n, len(c.write), err)
		}
		if !bytes.Equal(node.written.Bytes(), c.passed) {
			t.Errorf("%s: %q reaches the node, want %q", name, node.written.Bytes(), c.passed)
		}
		read := make([]byte, len(c.read))
		if _, err := io.ReadFull(conn, read); err != nil || string(read) != c.read {
			t.Errorf("%s: %q, %v is read, want %q", name, read, err, c.read)
		}
	}
}

// A second HELLO is for the node.
func TestHelloIsKeptBackOnce(t *testing.T) {
	node := speaking("+AGAIN\r\n")
	conn := &greeted{Conn: node, hello: hello("2"), answer: []byte("+HI\r\n")}
	for _, want := range []string{"+HI\r\n", "+AGAIN\r\n"} {
		if _, err := conn.Write(hello("2")); err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(conn).ReadString('\n'); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if !bytes.Equal(node.written.Bytes(), hello("2")) {
		t.Errorf("%q reached the node", node.written.Bytes())
	}
}

// A connection is not handed on that says more than it was asked, nor one whose dial is over:
// what comes next, or a deadline, would hit a request.
func TestDoubtfulConnectionsAreDropped(t *testing.T) {
	g := newGreeter(Options{})
	if _, err := g.greet(t.Context(), speaking("+HI\r\n+MORE\r\n")); err == nil {
		t.Error("a connection is good on which something was said unasked")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.greet(over, speaking("+HI\r\n")); err == nil {
		t.Error("a connection is good whose dial is over")
	}
	if _, err := g.greet(t.Context(), speaking("-ERR unknown command\r\n")); err != nil {
		t.Errorf("a refusal is an answer: %v", err)
	}
}
