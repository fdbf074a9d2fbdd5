package playground

import "runtime"

// MemoryUse is how much memory the program of a worker has.
type MemoryUse struct {
	Bytes uint64 `json:"bytes"` // from the system
	Live  uint64 `json:"live"`  // of these, on the heap and in use
}

// Memory returns how much memory the program has.
func Memory() (MemoryUse, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return MemoryUse{m.Sys, m.HeapAlloc}, nil
}
