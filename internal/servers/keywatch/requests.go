package keywatch

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/resp"
)

// Requests attributes the keys of a lock that chooses their values itself: it reads what the clients
// send. A value that one client has sent, during one call of Lock, is that call's. Whose any other value
// is nobody knows: a lock may give all its keys the same one. Keys without an expiry are counters or data,
// unless a client has set one of that name only if it was absent.
type Requests struct {
	now func() history.Time

	mu        sync.Mutex
	calls     map[int]int        // calls of Lock that have begun, by client
	senders   map[string]*sender // by value
	locks     map[string]bool    // names of keys that had an expiry, or were set if they were absent
	granted   bool               // some call was granted
	known     bool               // some key was attributed
	uncertain bool               // some key was not
	shared    string             // the first value of a key that several calls had sent
}

// sender is who has sent a value.
type sender struct {
	client  int
	call    int          // of Lock, from 1; 0: none had begun
	sent    history.Time // the first time
	several bool         // others have sent it, or the client during another call
	others  []int        // the other clients that have
}

// NewRequests returns requests of clients that have sent nothing. now returns the time of the history.
func NewRequests(now func() history.Time) *Requests {
	return &Requests{now: now, calls: map[int]int{}, senders: map[string]*sender{}, locks: map[string]bool{}}
}

// Note follows the calls of the clients.
func (r *Requests) Note(e *history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case history.Acquire:
		r.calls[e.Client]++
	case history.Granted:
		r.granted = true
	}
}

// Complete adds to a key that is set who set it, and when its value was first sent. It returns false if
// that is not known, or if the key is no lock's.
func (r *Requests) Complete(e *history.Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	ends, ofLock := e.Kind != history.KeyGone && e.Detail != history.NoExpiry, r.locks[e.Resource]
	r.locks[e.Resource] = ofLock || ends
	switch {
	case e.Kind != history.KeySet:
		r.uncertain = r.uncertain || ends && !ofLock // it was taken for data
		return true
	case !ofLock && !ends:
		return false
	}
	s := r.senders[e.Token]
	if s == nil || s.several || s.call == 0 {
		if r.uncertain = true; s != nil && s.several {
			r.shared = cmp.Or(r.shared, e.Token)
		}
		return false
	}
	e.Client, e.Sent = s.client, s.sent
	r.known = true
	return true
}

// Certain reports whether it is known whose each key is. A lock that was granted without a key that the
// watch knows keeps something else than strings.
func (r *Requests) Certain() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.uncertain && (r.known || !r.granted)
}

// Shared says which calls have sent the same value for a key, so that nobody knows whose the key is, or "".
func (r *Requests) Shared() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.senders[r.shared]
	switch {
	case r.shared == "":
		return ""
	case len(s.others) == 0:
		return fmt.Sprintf("several calls of client %d sent the same value, %q", s.client, r.shared)
	}
	var names []string
	for _, client := range slices.Sorted(slices.Values(append([]int{s.client}, s.others...))) {
		names = append(names, strconv.Itoa(client))
	}
	return fmt.Sprintf("clients %s sent the same value, %q", strings.Join(names, ", "), r.shared)
}

// Tap returns a function that makes a reader of what a client sends over one connection notice its
// requests.
func (r *Requests) Tap(client int) func(sent io.Reader) io.Reader {
	return func(sent io.Reader) io.Reader { return &tap{requests: r, client: client, from: sent} }
}

// longestValue is the largest length of a value that is noted, in bytes. Scripts are longer. longestCommand
// is the largest length of a command; what follows one that is longer is not read.
const (
	longestValue   = 256
	longestCommand = 1 << 20
)

// tap reads the requests of a connection.
type tap struct {
	requests *Requests
	client   int
	from     io.Reader
	begun    []byte // of a command whose end has not come
	over     bool   // it is no protocol that a tap can read
}

// Read implements [io.Reader].
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if n > 0 && !t.over {
		t.take(p[:n])
	}
	return n, err
}

func (t *tap) take(piece []byte) {
	now := t.requests.now()
	t.begun = append(t.begun, piece...)
	for len(t.begun) > 0 {
		words, rest, whole := resp.Command(t.begun)
		if !whole {
			break
		}
		t.begun = append(t.begun[:0], rest...)
		t.requests.sent(t.client, words, now)
	}
	if t.over = len(t.begun) > longestCommand; t.over {
		t.begun = nil
	}
}

// sent notes a command of a client.
func (r *Requests) sent(client int, words []string, now history.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	values := words[1:]
	for _, name := range SetIfAbsent(strings.ToUpper(words[0]), values) {
		r.locks[name] = true
	}
	call := r.calls[client]
	for _, value := range values {
		if len(value) > longestValue {
			continue
		}
		switch s := r.senders[value]; {
		case s == nil:
			r.senders[value] = &sender{client: client, call: call, sent: now}
		case s.client != client || s.call != call:
			s.several = true
			if s.client != client && !slices.Contains(s.others, client) {
				s.others = append(s.others, client)
			}
		}
	}
}

// SetIfAbsent returns the names of the keys that a command, in upper case, sets if they are absent, as locks
// do. SET with IFNE is among them: it also sets a key that has another value.
func SetIfAbsent(command string, args []string) (names []string) {
	switch {
	case command == "SETNX" && len(args) > 0,
		command == "SET" && len(args) > 2 && slices.ContainsFunc(args[2:], createsAbsent):
		return args[:1]
	case command == "MSETNX":
		for pair := range slices.Chunk(args, 2) {
			names = append(names, pair[0])
		}
	}
	return names
}

func createsAbsent(option string) bool {
	return strings.EqualFold(option, "NX") || strings.EqualFold(option, "IFNE")
}
