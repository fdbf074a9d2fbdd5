//go:build !linux

package env

import "time"

var start = time.Now()

// monotonic counts from the start of the program: enough for a lock, but not
// comparable across processes.
func monotonic() Instant { return Instant(time.Since(start)) }

// boottime is the best approximation without a system call of its own: if Monotonic stops
// during suspension, so does boottime.
func boottime() Instant { return monotonic() }
