package timelinepage_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
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

// The script draws the states of Go, in the same order.
func TestScriptKnowsAllStates(t *testing.T) {
	var names []timelinepage.State
	for _, a := range (timelinepage.Model{}).Block().Assets() {
		for _, found := range regexp.MustCompile(`(?m)^  (\w+): \{ top:`).FindAllStringSubmatch(a.Script, -1) {
			if found[1] != "fault" {
				names = append(names, timelinepage.State(found[1]))
			}
		}
	}
	if !slices.Equal(names, timelinepage.States()) {
		t.Errorf("the script draws %v, want %v", names, timelinepage.States())
	}
}

// The model on a page ends no script, and a fence keeps its digits, of which JavaScript's numbers have fewer.
func TestModelEndsNoScript(t *testing.T) {
	m := hostile(t)
	m.Grants[0].Fence = 1<<53 + 1
	text, err := m.Block().HTML()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "</script>"); n != 1 || !strings.Contains(string(text), `"n":"9007199254740993"`) {
		t.Errorf("%d scripts end in the block, want the model alone", n)
	}
	_, model, _ := strings.Cut(string(text), `<script type="application/json">`)
	model, _, _ = strings.Cut(model, "</script>")
	var back timelinepage.Model
	if err := json.Unmarshal([]byte(model), &back); err != nil || len(back.Lanes) != len(m.Lanes) {
		t.Errorf("%d lanes come back: %v", len(back.Lanes), err)
	}
}
