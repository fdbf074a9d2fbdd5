//go:build linux

package redisserver

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// ReservedPort is a port of 127.0.0.1 that nobody else is given.
//
// A port that is merely looked up is free only until somebody takes it: another
// server at the start, or, while our server is down, any outgoing connection of
// the machine. This one is bound all the time by a socket that does not listen.
// Because both ask for SO_REUSEADDR, a server can bind it as well, and the
// kernel hands it to nobody who asks for any port.
type ReservedPort struct {
	socket int
	number int
}

// ReservePort takes a port that is free.
func ReservePort() (*ReservedPort, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	p := &ReservedPort{socket: socket}
	if err := p.bind(); err != nil {
		p.Free()
		return nil, fmt.Errorf("no free port on 127.0.0.1: %w", err)
	}
	return p, nil
}

func (p *ReservedPort) bind() error {
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

// Number is that of the port.
func (p *ReservedPort) Number() int { return p.number }

// Addr is its host:port.
func (p *ReservedPort) Addr() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

// takenPatience is how long a listener on loopback may take to accept us.
const takenPatience = time.Second

// Vacant returns an error if somebody listens on the port, whose server is to be down.
// Whoever asks for just this number, and is willing to share it, is given it meanwhile;
// what then answers on it is another Redis perhaps.
func (p *ReservedPort) Vacant() error {
	conn, err := net.DialTimeout("tcp", p.Addr(), takenPatience)
	if err != nil {
		return nil
	}
	_ = conn.Close()
	return fmt.Errorf("another program has taken %s: redis-server cannot be started there", p.Addr())
}

// Free gives it back.
func (p *ReservedPort) Free() { _ = syscall.Close(p.socket) }
