//go:build !unix

package live

import "net"

// readArrived reads what has come over a connection.
func readArrived(c net.Conn, p []byte) (int, error) { return readSoon(c, p) }
