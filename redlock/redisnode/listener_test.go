//go:build linux

package redisnode_test

import (
	"net"
	"os"
	"syscall"
	"time"
)

// These strikes put a listener in a server's place.

// swallow returns the address of a node that takes requests and never answers.
func swallow(b *bench, _ int) string { return blackHole(b.T) }

// deafen returns an address that nobody can connect to: the kernel drops the
// first packet of every handshake, because one connection that nobody accepts
// fills the listener's queue.
func deafen(b *bench, _ int) string {
	b.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), "listener")
	b.Cleanup(func() { socket.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		b.Fatal(err)
	}
	l, err := net.FileListener(socket)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	addr := l.Addr().String()
	first, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { first.Close() })
	if second, err := net.DialTimeout("tcp", addr, 20*time.Millisecond); err == nil {
		second.Close()
		b.Fatal("the listener's queue is not full")
	}
	return addr
}

// resetAtOnce returns the address of a node that answers every connection's first
// request with its end, and resetLater that of one that answers the handshake before.
func resetAtOnce(b *bench, _ int) string { return resetAfter(b, "") }

func resetLater(b *bench, _ int) string { return resetAfter(b, "*0\r\n-NOPERM\r\n") }

func resetAfter(b *bench, answer string) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.(*net.TCPConn).SetLinger(0)
				if answer != "" {
					_, _ = conn.Read(make([]byte, 1000))
					_, _ = conn.Write([]byte(answer))
				}
				_, _ = conn.Read(make([]byte, 1))
			}()
		}
	}()
	return l.Addr().String()
}

// turnAway returns the address of a node that says something to each connection, unasked, and
// ends it. Redis does so to those that are one too many, and in protected mode.
func turnAway(said string) func(*bench, int) string {
	return func(b *bench, _ int) string {
		b.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte(said))
				conn.Close()
			}
		}()
		return l.Addr().String()
	}
}
