//go:build unix

package live

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// readArrived reads data that has arrived on a connection, without waiting. It clears the
// read deadline.
func readArrived(c net.Conn, p []byte) (n int, err error) {
	at, can := c.(syscall.Conn)
	if !can {
		return readBriefly(c, p)
	}
	raw, err := at.SyscallConn()
	if err != nil {
		return 0, err
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return 0, err
	}
	unread := raw.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), p)
		return true
	})
	switch {
	case unread != nil:
		return 0, unread
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		return 0, os.ErrDeadlineExceeded
	case err == nil && n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return max(n, 0), err
}
