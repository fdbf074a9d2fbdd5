//go:build linux

package child

import (
	"net"
	"testing"
)

func TestReservedPortIsGivenToNobody(t *testing.T) {
	p, err := ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Free()
	for range 2000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if l.Addr().String() == p.Addr() {
			t.Fatalf("%s was given away", p.Addr())
		}
		l.Close()
	}
}
