//go:build linux

package child

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A connection belongs to the process that has made it.
func TestDialler(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accept := func() net.Conn {
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	other := exec.Command("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+port+"; read -u 3 line")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	others := accept()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	mine := accept()
	pids := []int{other.Process.Pid, os.Getpid()}
	if got := Dialler(others, pids); got != 0 {
		t.Errorf("the connection of another process is of %d", got)
	}
	if got := Dialler(mine, pids); got != 1 {
		t.Errorf("the connection of this process is of %d", got)
	}
	if got := Dialler(others, pids[1:]); got != -1 {
		t.Errorf("the connection of a process that is not asked about is of %d", got)
	}
	ours.Close()
	if got := Dialler(mine, pids); got != -1 {
		t.Errorf("the connection that is closed is of %d", got)
	}
	if _, err := others.Write([]byte("\n")); err != nil {
		t.Error(err)
	}
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
}
