//go:build linux

package child

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// Port is a port of 127.0.0.1 that stays reserved while its server is down.
//
// A free port that is merely looked up can be taken by another server before ours starts
// or, while ours is down, by any outgoing connection of the machine. This one is bound all
// the time, by a socket that does not listen. Both that socket and the server use
// SO_REUSEADDR, so the server can bind the port as well, and the kernel gives it to nobody
// who asks for any free port.
type Port struct {
	socket int
	number int
}

// ReservePort reserves a free port.
func ReservePort() (*Port, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	p := &Port{socket: socket}
	if err := p.bind(); err != nil {
		p.Free()
		return nil, fmt.Errorf("no free port on 127.0.0.1: %w", err)
	}
	return p, nil
}

func (p *Port) bind() error {
	if err := syscall.SetsockoptInt(p.socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(p.socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(p.socket)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	p.number = name.(*syscall.SockaddrInet4).Port
	return nil
}

// Number returns the port number.
func (p *Port) Number() int { return p.number }

// Addr returns the port's host:port.
func (p *Port) Addr() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

// dialTimeout bounds how long a listener on loopback may take to accept a connection.
const dialTimeout = time.Second

// Vacant returns an error if somebody listens on the port. It is called while the server is
// down. Another program can still bind the port if it asks for this number with
// SO_REUSEADDR, and its replies could be mistaken for those of our server.
func (p *Port) Vacant() error {
	conn, err := net.DialTimeout("tcp", p.Addr(), dialTimeout)
	if err != nil {
		return nil
	}
	_ = conn.Close()
	return fmt.Errorf("another program listens on %s: the server cannot start there", p.Addr())
}

// Free releases the port.
func (p *Port) Free() { _ = syscall.Close(p.socket) }
