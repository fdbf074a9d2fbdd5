package env

import (
	"fmt"
	"syscall"
	"unsafe"
)

// The clocks of clock_gettime(2).
const (
	clockMonotonic = 1
	clockBoottime  = 7
)

func monotonic() Instant { return clockGettime(clockMonotonic) }
func boottime() Instant  { return clockGettime(clockBoottime) }

func clockGettime(clock uintptr) Instant {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic(fmt.Sprintf("env: clock_gettime(%d): %v", clock, errno))
	}
	return Instant(ts.Nano())
}
