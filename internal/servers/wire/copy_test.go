package wire

import (
	"testing"
	"time"
)

// Only what is whole commands is copied.
func TestWholeCommands(t *testing.T) {
	const get = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
	for piece, want := range map[string]bool{get: true, get + get: true, get[:len(get)-1]: false, get + "*1\r\n$4\r\n": false, "PING\r\n": false} {
		if got := whole([]byte(piece)); got != want {
			t.Errorf("%q: %t", piece, got)
		}
	}
}

// A copy comes to the node over a connection of its own, so that its reply is not taken
// for that to another request; and it comes though its client has gone.
func TestCopyOutlivesItsSender(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		server := startEcho(t)
		link := open(t, 1, "", server).Link(1, 1)
		conn := dial(t, link)
		link.Requests.Copy(func() time.Duration { return moment })
		const ping = "*1\r\n$4\r\nPING\r\n"
		say(t, conn, ping[:len(ping)-1]) // the echo ends lines
		for _, line := range []string{"*1", "$4", "PING"} {
			mustHear(t, conn, line)
		}
		link.Requests.Copy(nil)
		mustHearNothing(t, conn)
		conn.Close()
		for range 2*3 + 3 { // the request, its copy, and the end of that
			server.hears(t)
		}
		const want = "*1 $4 PING *1 $4 PING *1 $4 QUIT"
		if got := server.heard(); got != want {
			t.Errorf("the server has heard %q", got)
		}
	})
}
