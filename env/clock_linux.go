package env

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// The clocks of clock_gettime(2).
const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// The Go runtime reads CLOCK_MONOTONIC without a system call, which a lock would otherwise
// make a dozen times for each grant, but tells only how much later it is than it was.
var began, origin = anchor()

// anchor returns a moment with its reading of the clock. Of a few that it takes it is the
// one between whose two readings the least time has passed, some tens of nanoseconds.
func anchor() (began time.Time, origin Instant) {
	least := time.Hour
	for range 10 {
		was := time.Now()
		read := clockGettime(clockMonotonic)
		if passed := time.Since(was); passed < least {
			least, began, origin = passed, was, read
		}
	}
	return began, origin
}

func monotonic() Instant { return origin.Add(time.Since(began)) }
func boottime() Instant  { return clockGettime(clockBoottime) }

func clockGettime(clock uintptr) Instant {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(fmt.Sprintf("env: clock_gettime(%d): %v", clock, errno))
	}
	return Instant(ts.Nano())
}
