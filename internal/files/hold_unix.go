//go:build unix && !aix && !solaris

package files

import (
	"errors"
	"os"
	"syscall"
)

// Hold locks a directory while the returned file is open; the system unlocks it however the
// process ends. It returns [ErrHeld] if another process holds it, and [errors.ErrUnsupported] on
// systems without such locks.
func Hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	if err == nil {
		_, err = os.Stat(dir) // it may have been removed before we had the lock
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
