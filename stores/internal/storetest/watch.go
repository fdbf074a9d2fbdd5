package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/live"
)

// EntryLog is what a watch of a fleet has recorded so far.
type EntryLog struct {
	fleet *Fleet

	mu     sync.Mutex
	events []history.Event
	seen   env.Instant // 0: never
}

// Watch watches the entries of the fleet until the test ends. It waits until the watch has seen
// the store.
func (f *Fleet) Watch() *EntryLog {
	f.T.Helper()
	l := &EntryLog{fleet: f}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f.Fleet.Watch(ctx, l) }()
	f.T.Cleanup(func() { cancel(); <-done })
	l.CatchUp()
	return l
}

// Record implements [live.EntryLog].
func (l *EntryLog) Record(e history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// Gap implements [live.EntryLog].
func (l *EntryLog) Gap() {}

// Seen implements [live.EntryLog].
func (l *EntryLog) Seen(before env.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = before
}

// Now implements [live.EntryLog].
func (l *EntryLog) Now() env.Instant { return env.Instant(time.Since(began)) + 1 }

var began = time.Now()

// CatchUp waits until everything that has happened so far is recorded.
func (l *EntryLog) CatchUp() {
	l.fleet.T.Helper()
	now := l.Now()
	Eventually(l.fleet.T, "the watch has seen the present", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.seen > now
	})
}

// Events returns the changes of entries with such values, in their order, as "entry-set x" or
// "entry-gone x session over".
func (l *EntryLog) Events() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		text := e.Kind.String() + " " + e.Token
		if e.Reason != "" {
			text += " " + e.Reason
		}
		list = append(list, text)
	}
	return list
}

// Expect waits until the watch has caught up, and compares what it has recorded.
func (l *EntryLog) Expect(want ...string) {
	l.fleet.T.Helper()
	l.CatchUp()
	got := l.Events()
	same := len(got) == len(want)
	for i := range got {
		same = same && got[i] == want[i]
	}
	if !same {
		l.fleet.T.Errorf("the watch has recorded %q, not %q", got, want)
	}
}

var _ live.EntryLog = (*EntryLog)(nil)
