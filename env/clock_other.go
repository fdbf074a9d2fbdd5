//go:build !linux

package env

import "time"

var start = time.Now()

// monotonic counts from the start of the program: enough for a lock, but not
// comparable across processes.
func monotonic() Instant { return Instant(time.Since(start)) }

// boottime is the best there is without a system call of its own: where
// Monotonic stands still in suspension, so does this.
func boottime() Instant { return monotonic() }
