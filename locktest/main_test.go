package locktest_test

import (
	"os"
	"runtime"
	"testing"
)

// TestMain keeps the tests on one thread: the goroutines of a bubble run one after another, and on two threads
// they take half as much processor time again.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}
