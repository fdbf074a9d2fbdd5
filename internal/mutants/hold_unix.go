//go:build unix && !aix && !solaris

package mutants

import (
	"errors"
	"os"
	"syscall"
)

// hold locks a directory for as long as the file that it returns is open.
func hold(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errHeld
	}
	if err == nil {
		_, err = os.Stat(path) // it may have been removed before we had the lock
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
