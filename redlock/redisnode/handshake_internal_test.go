package redisnode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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

// spoken is a connection that records what is written to it, and returns prepared replies.
type spoken struct {
	net.Conn
	written    bytes.Buffer
	said       io.Reader
	closed     bool
	unwritable error
}

func (c *spoken) Write(p []byte) (int, error) {
	if c.unwritable != nil {
		return 0, c.unwritable
	}
	return c.written.Write(p)
}

func (c *spoken) Read(p []byte) (int, error)  { return c.said.Read(p) }
func (c *spoken) SetDeadline(time.Time) error { return nil }
func (c *spoken) Close() error                { c.closed = true; return nil }

func speaking(text string) *spoken { return &spoken{said: strings.NewReader(text)} }

// The HELLO that go-redis says is kept back, and nothing else: whatever it says first, each
// command that reaches the node has its reply, in their order.
func TestNothingButHelloIsKeptBack(t *testing.T) {
	ping := encode([]string{"ping"})
	other := encode([]string{"hello", "2", "setname", "x"})
	for name, c := range map[string]struct {
		write, passed []byte
		read          string
	}{
		"HELLO":                       {hello, nil, string(welcome)},
		"HELLO and more in one write": {append(slices.Clone(hello), ping...), ping, string(welcome) + "+PONG\r\n"},
		"HELLO and a name":            {other, other, "+PONG\r\n"},
		"a part of HELLO":             {hello[:9], hello[:9], "+PONG\r\n"},
		"another command":             {ping, ping, "+PONG\r\n"},
	} {
		node := speaking("+PONG\r\n")
		conn := &accepted{Conn: node}
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

// handshakes are the options of a handshake, what the server says to it, and what is in the
// error, "" if the connection is of use.
var handshakes = map[string]struct {
	options     Options
	said, error string
}{
	"accepted":                    {Options{}, "*0\r\n" + info("a"), ""},
	"INFO is forbidden":           {Options{}, "*0\r\n-NOPERM this user has no permissions\r\n", ""},
	"INFO has no run id":          {Options{}, "*0\r\n" + text("# Server\r\n"), ""},
	"a database is selected":      {Options{DB: 3}, "*0\r\n+OK\r\n" + info("a"), ""},
	"there is no such database":   {Options{DB: 99}, "*0\r\n-ERR DB index is out of range\r\n" + info("a"), "ERR DB index is out of range"},
	"too many clients":            {Options{}, "-ERR max number of clients reached\r\n", "ERR max number of clients reached"},
	"protected mode":              {Options{}, "-DENIED Redis is running in protected mode. In this mode connections are only\r\n", "DENIED Redis is running in protected mode"},
	"no password":                 {Options{}, "-NOAUTH HELLO must be called\r\n-NOAUTH Authentication required.\r\n", "NOAUTH "},
	"another password":            {Options{Password: "a"}, "-WRONGPASS invalid\r\n-NOAUTH Authentication required.\r\n", "WRONGPASS "},
	"loading":                     {Options{}, "-LOADING Redis is loading\r\n", "LOADING "},
	"no HELLO":                    {Options{}, "-ERR unknown command 'HELLO'\r\n", "ERR unknown command"},
	"no reply":                    {Options{}, "", "no answer to HELLO"},
	"no reply to SELECT":          {Options{DB: 1}, "*0\r\n", "no answer to SELECT"},
	"no reply to INFO":            {Options{}, "*0\r\n", "no answer to INFO"},
	"not Redis":                   {Options{}, "HTTP/1.1 400 Bad Request\r\n", "is not a reply of Redis"},
	"more than what was asked":    {Options{}, "*0\r\n" + info("a") + "+MORE\r\n", "unexpected data"},
	"the server of another node":  {Options{}, "*0\r\n" + info("taken"), "nodes 1 and 2, one:1 and two:2, both have run_id taken"},
	"a long list in its greeting": {Options{}, "*2\r\n$7\r\nmodules\r\n*1\r\n*2\r\n$4\r\nname\r\n$3\r\nbig\r\n" + info("a"), ""},
}

func info(run string) string {
	return text("# Server\r\nredis_version:7.0.15\r\nrun_id:" + run + "\r\n")
}

func text(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func TestHandshake(t *testing.T) {
	for name, c := range handshakes {
		all := newServers([]string{"one:1", "two:2"})
		if err := all.register(1, info("taken")); err != nil {
			t.Fatal(err)
		}
		conn := speaking(c.said)
		got, err := newHandshaker(2, c.options, all).connect(t.Context(), conn)
		if (c.error == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.error) {
			t.Errorf("%s: %v, want %q", name, err, c.error)
		}
		if (got == nil) != conn.closed || (got == nil) != (err != nil) {
			t.Errorf("%s: the connection is returned: %t, closed: %t", name, got != nil, conn.closed)
		}
	}
}

// The reason of a refusal is read although the server has hung up before our HELLO.
func TestReasonIsReadAfterAFailedWrite(t *testing.T) {
	conn := speaking("-ERR max number of clients reached\r\n")
	conn.unwritable = errors.New("broken pipe")
	_, err := newHandshaker(1, Options{}, newServers([]string{"one:1"})).connect(t.Context(), conn)
	if refused := redis.Error(nil); !errors.As(err, &refused) || err.Error() != "ERR max number of clients reached" {
		t.Error(err)
	}
	conn = speaking("*0\r\n" + info("a"))
	conn.unwritable = errors.New("broken pipe")
	if _, err = newHandshaker(1, Options{}, newServers([]string{"one:1"})).connect(t.Context(), conn); !errors.Is(err, conn.unwritable) {
		t.Error(err)
	}
}

// A connection is not handed on whose dial is over: its deadline would hit a request.
func TestConnectionAfterTheDialIsDropped(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newHandshaker(1, Options{}, newServers([]string{"one:1"})).connect(over, speaking("*0\r\n"+info("a"))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
