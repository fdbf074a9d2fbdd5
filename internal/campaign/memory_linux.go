package campaign

import (
	"fmt"
	"os"
)

// residentMemory returns the bytes of memory that a process has, or 0 if nobody knows.
func residentMemory(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var all, resident int64
	if _, err := fmt.Sscan(string(text), &all, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
