// Package storetest helps to test a store: a fleet that has to leave nothing behind, clients
// of it, and requests that are repeated until they are answered.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// Patience is for everything that has to happen at some time.
const Patience = 2 * time.Minute

// Fleet is a fleet and a client of it.
type Fleet struct {
	live.Fleet
	T      *testing.T
	Client live.StoreClient
}

// Open opens a fleet, which has to leave nothing behind when the test ends.
func Open(t *testing.T, open func(ctx context.Context) (live.Fleet, error)) *Fleet {
	t.Helper()
	tmp := OwnTemp(t)
	opened, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := &Fleet{Fleet: opened, T: t}
	t.Cleanup(func() { // when all clients are closed
		select {
		case err := <-opened.Died:
			t.Error(err)
		default:
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
		if left := Entries(t, tmp); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	f.Client = f.Connect()
	return f
}

// Connect returns a client of all members that is closed with the test.
func (f *Fleet) Connect() live.StoreClient {
	f.T.Helper()
	var addrs []string
	for _, s := range f.Servers {
		addrs = append(addrs, s.Addr())
	}
	return f.ConnectTo(addrs...)
}

// ConnectTo returns a client of some members that is closed with the test.
func (f *Fleet) ConnectTo(addrs ...string) live.StoreClient {
	f.T.Helper()
	c, err := f.Store.Connect(addrs, live.DialServer)
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(func() {
		if err := c.Close(); err != nil {
			f.T.Error(err)
		}
	})
	return c
}

// Try carries out a request once.
func Try(t *testing.T, c live.StoreClient, limit time.Duration, r env.StoreRequest) (env.StoreReply, error) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return c.Do(ctx, r)
}

// Ask carries out a request on a store that serves, and repeats it where that is certain to be
// harmless.
func (f *Fleet) Ask(r env.StoreRequest) env.StoreReply {
	f.T.Helper()
	return f.retry(r, func(err error) bool { return errors.Is(err, env.ErrNoLeader) }, Patience)
}

// Insist repeats a request until it is answered.
func (f *Fleet) Insist(r env.StoreRequest) env.StoreReply {
	f.T.Helper()
	return f.retry(r, func(error) bool { return true }, time.Second)
}

// retry repeats a request, each time for limit, as long as its error allows it.
func (f *Fleet) retry(r env.StoreRequest, again func(error) bool, limit time.Duration) env.StoreReply {
	f.T.Helper()
	for end := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		reply, err := Try(f.T, f.Client, limit, r)
		switch {
		case err == nil:
			return reply
		case !again(err) || time.Now().After(end):
			f.T.Fatalf("%v of %q: %v%s", r.Op, r.Key, err, logs(f.T))
		}
	}
}

// logs returns the ends of the servers' logs.
func logs(t *testing.T) string {
	const most = 4096
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*", "*", "log"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&all, "\n%s:\n%s", file, text[max(0, len(text)-most):])
	}
	return all.String()
}

// Done is Ask for a request that has to be done.
func (f *Fleet) Done(r env.StoreRequest) env.StoreReply {
	f.T.Helper()
	reply := f.Ask(r)
	if !reply.Done {
		f.T.Fatalf("%v of %q was declined", r.Op, r.Key)
	}
	return reply
}

// Declined is Ask for a request that has to be declined.
func (f *Fleet) Declined(r env.StoreRequest) env.StoreReply {
	f.T.Helper()
	reply := f.Ask(r)
	if reply.Done {
		f.T.Fatalf("%v of %q was done: %+v", r.Op, r.Key, reply)
	}
	return reply
}

// OpenSession opens a session.
func (f *Fleet) OpenSession(ttl time.Duration) uint64 {
	f.T.Helper()
	return f.Done(env.StoreRequest{Op: env.StoreOpen, TTL: ttl}).Session
}

// Create creates an entry.
func (f *Fleet) Create(r env.StoreRequest) env.Entry {
	f.T.Helper()
	r.Op = env.StoreCreate
	return f.Done(r).Entries[0]
}

// OwnTemp gives the test a directory for temporary files, which servers of another user can enter.
func OwnTemp(t *testing.T) string {
	tmp := t.TempDir()
	if err := os.Chmod(filepath.Dir(tmp), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	return tmp
}

// Entries lists a directory.
func Entries(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// Eventually waits until a condition is true.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", Patience, what)
		}
	}
}

// Alive reports whether a process runs.
func Alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
