//go:build !linux

package wire

// reserve leaves the choice of the port to the system: elsewhere than on Linux a port cannot
// be kept while nobody listens there.
func reserve() (addr string, free func(), err error) { return "127.0.0.1:0", func() {}, nil }
