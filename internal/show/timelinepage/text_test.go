package timelinepage_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// The text of a short run.
func TestGoldenText(t *testing.T) {
	got := text(t, read(t, run(t, find(t, "crash-restart"), 1, nil)))
	testkit.GoldenFile(t, "testdata/crash-restart.txt", got, "A timeline's text is another.")
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
