package timeline_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// The text of a short run is complete.
func TestText(t *testing.T) {
	got := text(t, read(t, run(t, find(t, "crash-restart"), 1, nil)))
	for _, part := range []string{
		"V1 lease exclusion: violated\nV2 section exclusion: violated\n  nodes 4 and 5 are cut off, from client 1 at 0s;\n  client 1 was granted \"invoice-7\" (token ",
		"\nfaults\n  0s        …  nodes 4 and 5 are cut off, from client 1\n  21.477ms     node 3 crashes\n\n",
		"\nclient 1\n  0s         1.477ms    waits (e48510a4) 1 try, granted\n",
		"  165.886ms  197.733ms  TWO HOLD AT ONCE (5f06eaf2) V1, V2\n",
		"\nnode 3\n  872µs      21.477ms   key of client 1 (e48510a4): forgotten\n",
		"  21.477ms              back without its keys\n",
		"\navailability\n  0s  1.477ms  outage\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the text lacks\n%s\nin\n%s", part, got)
		}
	}
}

// Texts of a history are printed without control characters.
func TestTextsAreEscaped(t *testing.T) {
	const hostile = "\x1b[2J\r\nspoof\x7f"
	h := write(history.Header{Nodes: 1, Clients: 1},
		history.Event{Kind: history.FaultStart, Fault: 1, Detail: hostile},
		history.Event{Kind: history.Acquire, Client: 1, Resource: hostile, Token: hostile},
		history.Event{Time: 1, Kind: history.Granted, Client: 1, Resource: hostile, Token: hostile},
		history.Event{Time: 2, Kind: history.Lost, Client: 1, Resource: hostile, Token: hostile, Reason: hostile},
		history.Event{Time: 3, Kind: history.Kill, Client: 1},
		history.Event{Time: 4, Kind: history.End, Reason: hostile})
	m := read(t, h)
	if len(m.Finds) == 0 || m.Finds[0].Verdict != checker.Unknown {
		t.Fatalf("a history that was cut short leaves nothing open: %+v", m.Finds)
	}
	for _, r := range text(t, m) {
		if unicode.IsControl(r) && r != '\n' {
			t.Fatalf("%q is in the text:\n%q", r, text(t, m))
		}
	}
	if strings.Contains(text(t, m), "\nspoof") {
		t.Error("a text begins a line of its own")
	}
}
