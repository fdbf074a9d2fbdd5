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

// The Go runtime reads CLOCK_MONOTONIC without a system call, of which a lock would
// otherwise make a dozen for each grant, but returns only differences.
var began, origin = anchor()

// anchor returns a moment and the reading of the clock at it. It tries several times and
// returns the pair whose two readings are closest, some tens of nanoseconds apart.
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
