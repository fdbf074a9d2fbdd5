//go:build linux

package address

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/servers/preflight"
	"github.com/lockstorm/lockstorm/internal/servertest"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Keys that arrive after the first scan are deleted, too. Two keys of an interrupted run
// were once left.
func TestWhatArrivesLateIsSwept(t *testing.T) {
	f, addrs := servertest.Lent(t, 1)
	options, err := redisnode.Options{}.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := preflight.Open(t.Context(), addrs[0], options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	pauses := 0
	late := func() {
		if pauses++; pauses == 1 {
			servertest.Do(t, f.Servers()[0], "SET lockstorm:run:lock token PX 100000")
		}
	}
	if err := sweep(t.Context(), conn, "lockstorm:run:", late); err != nil {
		t.Fatal(err)
	}
	if left := servertest.Ours(t, f.Servers()[0]); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	if pauses != 2 {
		t.Errorf("%d pauses, want one before each last look", pauses)
	}
}
