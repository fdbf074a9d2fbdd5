package keywatch

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/resp"
)

// requestsTest is requests whose time goes on by one with each piece that a client sends.
type requestsTest struct {
	*testing.T
	*Requests
}

func newRequestsTest(t *testing.T) requestsTest {
	now := history.Time(0)
	return requestsTest{t, NewRequests(func() history.Time { now++; return now })}
}

// call begins a call of Lock of a client.
func (r requestsTest) call(client int) { r.Note(&history.Event{Kind: history.Acquire, Client: client}) }

// send makes a client send a command.
func (r requestsTest) send(client int, line string) {
	r.pass(client, strings.NewReader(resp.Encode(strings.Fields(line)...)))
}

func (r requestsTest) pass(client int, sent io.Reader) {
	if _, err := io.Copy(io.Discard, r.Tap(client)(sent)); err != nil {
		r.Error(err)
	}
}

// want checks whose a key is that is set; client 0: nobody knows.
func (r requestsTest) want(value string, client int, sent history.Time, certain bool) {
	r.Helper()
	e := history.Event{Kind: history.KeySet, Resource: "k", Token: value}
	if known := r.Complete(&e); known != (client != 0) || e.Client != client || e.Sent != sent {
		r.Errorf("%s is of client %d, sent at %d (known: %t), want client %d, %d", value, e.Client, e.Sent, known, client, sent)
	}
	if r.Certain() != certain {
		r.Errorf("certain after %s: %t", value, !certain)
	}
}

// Law: a value is that of the client that has sent it, if one has, in one call. If it is not known whose a
// key is, nothing is certain any more.
func TestWhoseAValueIs(t *testing.T) {
	r := newRequestsTest(t)
	r.send(1, "HELLO 3")
	r.call(1)
	r.send(1, "SET k a NX PX 1000")
	r.send(1, "SET k a NX PX 1000")
	r.call(2)
	r.send(2, "SET k b NX PX 1000")
	r.want("a", 1, 2, true)
	r.want("b", 2, 4, true)
	r.call(1)
	r.send(1, "EVALSHA 0123 1 k c 1000")
	r.want("c", 1, 5, true)
	r.send(1, "SET k b NX PX 1000")
	r.want("b", 0, 0, false)
	if got, want := r.Shared(), `clients 1, 2 sent the same value, "b"`; got != want {
		t.Errorf("shared: %q, want %q", got, want)
	}
	for name, send := range map[string]func(requestsTest){
		"nobody has sent it":                   func(requestsTest) {},
		"no call had begun":                    func(r requestsTest) { r.send(1, "SET k a") },
		"a client has sent it in two calls":    func(r requestsTest) { r.call(1); r.send(1, "SET k a"); r.call(1); r.send(1, "DEL a") },
		"it is too long to be noted":           func(r requestsTest) { r.call(1); r.send(1, "SET k "+strings.Repeat("a", longestValue+1)) },
		"the command does not come to its end": func(r requestsTest) { r.call(1); r.pass(1, strings.NewReader("*2\r\n$3\r\nGET\r\n$1\r\na")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRequestsTest(t)
			send(r)
			value := "a"
			if strings.HasPrefix(name, "it is too long") {
				value = strings.Repeat("a", longestValue+1)
			}
			r.want(value, 0, 0, false)
		})
	}
}

// Commands may come in any pieces.
func TestCommandsInPieces(t *testing.T) {
	r := newRequestsTest(t)
	r.call(1)
	r.pass(1, iotest.OneByteReader(strings.NewReader(resp.Encode("SET", "k", "a")+resp.Encode("SET", "l", "b"))))
	if s := r.senders["a"]; s == nil || r.senders["b"] == nil || s.sent >= r.senders["b"].sent {
		t.Errorf("a was sent at %v, b at %v", s, r.senders["b"])
	}
}

// A key without an expiry is a lock's only if a client has set it if it was absent, or if it had an expiry
// before. One that gets an expiry later was a lock's, and has been missed.
func TestDataIsNoLock(t *testing.T) {
	set := func(r requestsTest, name, value string) bool {
		return r.Complete(&history.Event{Kind: history.KeySet, Resource: name, Token: value, Detail: history.NoExpiry})
	}
	r := newRequestsTest(t)
	r.call(1)
	for _, line := range []string{"SET data a", "SETNX one b", "SET two c NX", "MSETNX three d four e", "SET k f PX 100", "SET k g"} {
		r.send(1, line)
	}
	r.want("f", 1, 5, true)
	for name, value := range map[string]string{"one": "b", "two": "c", "three": "d", "four": "e", "k": "g"} {
		if !set(r, name, value) {
			t.Errorf("%s is taken for data", name)
		}
	}
	if set(r, "data", "a") || !r.Certain() {
		t.Error("data is taken for a lock")
	}
	if r.Complete(&history.Event{Kind: history.KeyExtended, Resource: "data"}); r.Certain() {
		t.Error("what gets an expiry is data")
	}
}

// A lock that was granted without any string keeps something else.
func TestOtherKeysAreNotCertain(t *testing.T) {
	r := newRequestsTest(t)
	r.call(1)
	r.send(1, "HSET k a 1")
	if !r.Certain() {
		t.Error("not certain before the first grant")
	}
	if r.Note(&history.Event{Kind: history.Granted, Client: 1}); r.Certain() {
		t.Error("certain after a grant without a key")
	}
}
