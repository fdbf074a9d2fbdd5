//go:build !unix

package live

import "net"

// readArrived reads data that has arrived on a connection.
func readArrived(c net.Conn, p []byte) (int, error) { return readBriefly(c, p) }
