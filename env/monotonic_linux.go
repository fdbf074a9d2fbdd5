package env

import (
	"syscall"
	"unsafe"
)

const clockMonotonic = 1 // CLOCK_MONOTONIC of clock_gettime(2)

func monotonic() Instant {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		panic("env: clock_gettime(CLOCK_MONOTONIC): " + errno.Error())
	}
	return Instant(ts.Nano())
}
