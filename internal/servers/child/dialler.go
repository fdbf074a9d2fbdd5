package child

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Dialler returns which of some processes has made a connection that this program has accepted at an
// IPv4 address, from 0; -1: none of them, or the system is not Linux. No protocol has to name its
// sender for that.
func Dialler(accepted net.Conn, pids []int) int {
	inode := inodeOf(accepted.RemoteAddr(), accepted.LocalAddr())
	if inode == "" {
		return -1
	}
	socket := "socket:[" + inode + "]"
	for i, pid := range pids {
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, file := range open {
			if to, err := os.Readlink(file); err == nil && to == socket {
				return i
			}
		}
	}
	return -1
}

// inodeOf returns the number of the socket at the local end of a connection between two addresses of
// this machine; "": no process has it any more.
func inodeOf(local, remote net.Addr) string {
	table, err := os.Open("/proc/net/tcp")
	if err != nil {
		return ""
	}
	defer func() { _ = table.Close() }()
	const localField, remoteField, inodeField = 1, 2, 9
	from, to := procAddr(local), procAddr(remote)
	for lines := bufio.NewScanner(table); lines.Scan(); {
		if !strings.Contains(lines.Text(), from) { // most lines
			continue
		}
		fields := strings.Fields(lines.Text())
		if len(fields) > inodeField && fields[localField] == from && fields[remoteField] == to && fields[inodeField] != "0" {
			return fields[inodeField]
		}
	}
	return ""
}

// procAddr writes an address as /proc/net/tcp does: the bytes of the IP address as a number of the
// machine, and the port, in hexadecimal digits.
func procAddr(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || tcp.IP.To4() == nil {
		return "?"
	}
	ip := tcp.IP.To4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip), tcp.Port)
}
