package clientlog

import (
	"slices"
	"sync"
	"sync/atomic"
)

// capture is a run whose lines are recorded.
type capture struct {
	to   *Log
	mine func() bool
}

// The captures that go on. Loggers read active without a lock, because a goroutine of a bubble
// that waits for a mutex stops virtual time.
var (
	mu     sync.Mutex
	active atomic.Pointer[[]*capture]
	undo   func() // restores the loggers of the standard library
)

// Capture records what is logged by a goroutine for which mine returns true, and calls mine on that
// goroutine. Lines of all other goroutines go where they went before. If several captures want a
// line, each of them gets it. restore ends the capture.
//
// A logger that the program replaces meanwhile is the program's affair: it is neither recorded nor
// restored.
func Capture(to *Log, mine func() bool) (restore func()) {
	c := &capture{to, mine}
	mu.Lock()
	defer mu.Unlock()
	list := append(current(), c)
	if active.Store(&list); len(list) == 1 {
		undo = captureStandard()
	}
	return sync.OnceFunc(func() { end(c) })
}

// end ends a capture.
func end(c *capture) {
	mu.Lock()
	defer mu.Unlock()
	list := slices.DeleteFunc(current(), func(other *capture) bool { return other == c })
	if active.Store(&list); len(list) == 0 {
		undo()
	}
}

// current returns a copy of the captures that go on.
func current() []*capture {
	if list := active.Load(); list != nil {
		return slices.Clone(*list)
	}
	return nil
}

// wanting returns the logs that want the lines of the calling goroutine.
func wanting() (logs []*Log) {
	if list := active.Load(); list != nil {
		for _, c := range *list {
			if c.mine() {
				logs = append(logs, c.to)
			}
		}
	}
	return logs
}

// logs are written to together.
type logs []*Log

// Write implements [io.Writer].
func (l logs) Write(text []byte) (int, error) {
	for _, to := range l {
		_, _ = to.Write(text)
	}
	return len(text), nil
}
