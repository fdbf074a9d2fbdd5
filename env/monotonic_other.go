//go:build !linux

package env

import "time"

var start = time.Now()

// monotonic counts from the start of the program: enough for a lock, but not
// comparable across processes.
func monotonic() Instant { return Instant(time.Since(start)) }
