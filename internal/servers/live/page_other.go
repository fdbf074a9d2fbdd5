//go:build !linux

package live

import (
	"errors"
	"os"
	"runtime"
)

// page works on Linux only.
type page struct{ file *os.File }

func newPage() (*page, error) {
	return nil, errors.New("clients can run as processes on Linux only, not on " + runtime.GOOS)
}

func openPage(*os.File) (*page, error)                 { return newPage() }
func (*page) close()                                   {}
func (*page) write(func() clockReadings)               {}
func (*page) read(func() int64) (clockReadings, int64) { return clockReadings{}, 0 }
func (*page) notify() bool                             { return false }
func (*page) acknowledge()                             {}
