package live

import (
	"net"
	"time"
)

// readBriefly reads what has arrived on a connection that cannot read without waiting. On a
// busy machine it may find nothing.
func readBriefly(c net.Conn, p []byte) (n int, err error) {
	for more := 0; err == nil && n < len(p); n += more { // each read returns one message
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		more, err = c.Read(p[n:])
	}
	if n > 0 {
		err = nil
	}
	return n, err
}
