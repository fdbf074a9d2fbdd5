package results_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/results"
)

// A history that says more at one instant than is judged is left open, and says how far it
// was judged; if it was cut short itself, it says that.
func TestTooMuchIsLeftOpen(t *testing.T) {
	for reason, want := range map[string]string{
		"":                   "too much to judge: event 262145: more than 262144 events at one instant, 5",
		"no progress: a try": "no progress: a try",
	} {
		var stored bytes.Buffer
		w := history.NewWriter(&stored, history.Header{Format: history.Format, Version: history.Version, Scenario: "s", Lock: "redlock", Backend: "sim", Nodes: 1, Clients: 1, Keys: true})
		for range 1<<18 + 10 {
			w.Record(&history.Event{Time: 5, Kind: history.KeySet, Node: 1, Resource: "r", Token: "t"})
		}
		w.Record(&history.Event{Time: 5, Kind: history.End, Reason: reason})
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		_, report, err := results.Judge(&stored)
		if err != nil || !strings.HasPrefix(report.Cut, want) {
			t.Errorf("cut for %q, %v: want %q", report.Cut, err, want)
		}
		for _, f := range report.Findings {
			if f.Verdict != checker.Unknown {
				t.Errorf("%v %v", f.Property, f.Verdict)
			}
		}
	}
}
