package redisserver

import (
	"fmt"
	"net"
	"syscall"
)

// CheckLoopback returns an error unless a host, an address without its port, is this machine's
// own.
func CheckLoopback(host string) error {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not on this machine: nothing but loopback is spoken to", host)
}

// Dialer makes no connection to any other machine, whatever name led there.
var Dialer = &net.Dialer{Control: func(_, addr string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return CheckLoopback(host)
}}
