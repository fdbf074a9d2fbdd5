package wire

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
)

// spoken encodes commands, such as "GET k | DEL k", in Redis's protocol.
func spoken(commands string) []byte {
	var piece strings.Builder
	for c := range strings.SplitSeq(commands, "|") {
		words := strings.Fields(c)
		piece.WriteString("*" + string(rune('0'+len(words))) + "\r\n")
		for _, w := range words {
			piece.WriteString("$" + string(rune('0'+len(w))) + "\r\n" + w + "\r\n")
		}
	}
	return []byte(piece.String())
}

func TestKeyOfARequest(t *testing.T) {
	for commands, want := range map[string]string{
		"set stock token NX PX 100":    "stock",
		"evalsha sha 1 stock token":    "stock",
		"INFO server | GET note":       "note",
		"set a t | info x | get note":  "a",
		"HELLO 3 | CLIENT SETINFO x y": "",
		"GET":                          "",
	} {
		if got := keyOf(spoken(commands)); got != want {
			t.Errorf("%s: got %q, want %q", commands, got, want)
		}
	}
	whole := spoken("GET stock")
	for end := range whole {
		if got := keyOf(whole[:end]); got != "" {
			t.Errorf("%q: got %q", whole[:end], got)
		}
	}
	for _, broken := range []string{"", "GET stock\r\n", "*1\r\n$9223372036854775807\r\nGET\r\n", "*-1\r\n", "*2\r\n$3\r\nGET\r\n$-1\r\n"} {
		if got := keyOf([]byte(broken)); got != "" {
			t.Errorf("%q: got %q", broken, got)
		}
	}
}

// A rule sees the sender, the receiver, and the key.
func TestRuleOfOneKey(t *testing.T) {
	onEach(t, func(t *testing.T, open opener) {
		server := startEcho(t)
		n := open(t, 2, server)
		slow := nemesis.Rule{Holds: func(m nemesis.Message) bool { return m.Client == 2 && m.Node == 1 && m.Key == "a" }}
		for client, held := range map[int]bool{1: false, 2: true} {
			l := n.Link(client, 1)
			l.Each(nemesis.Both, func(w *Direction) { w.Impose(1, slow) })
			conn := dial(t, l)
			if _, err := conn.Write(spoken("GET b")); err != nil {
				t.Fatal(err)
			}
			mustHear(t, conn, "*2\n$3\nGET\n$1\nb")
			if _, err := conn.Write(spoken("GET a")); err != nil {
				t.Fatal(err)
			}
			if held {
				mustHearNothing(t, conn)
				l.Each(nemesis.Both, func(w *Direction) { w.Lift(1) })
			}
			mustHear(t, conn, "*2\n$3\nGET\n$1\na")
		}
	})
}
