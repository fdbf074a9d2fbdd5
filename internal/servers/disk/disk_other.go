//go:build !linux

package disk

import (
	"errors"
	"runtime"
)

var errNotHere = errors.New("a disk that loses what was not synced needs Linux, not " + runtime.GOOS)

// Disk does not exist here.
type Disk struct{}

// Available returns an error.
func Available() error { return errNotHere }

// Mount fails.
func Mount(string, func(error)) (*Disk, error) { return nil, errNotHere }

func (*Disk) Dir() string  { return "" }
func (*Disk) Syncs() int64 { return 0 }
func (*Disk) SyncAll()     {}
func (*Disk) Fill(bool)    {}
func (*Disk) Cut() error   { return errNotHere }
func (*Disk) Close() error { return nil }
