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
		err = isStill(f, dir)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// isStill returns an error unless the open directory is the one at the path. It may have been removed before we
// had the lock, and another process may hold a new one.
func isStill(f *os.File, dir string) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(dir)
	if err == nil && !os.SameFile(opened, there) {
		err = ErrHeld
	}
	return err
}
