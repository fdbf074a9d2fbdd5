package trace_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/trace"
)

// A trace has a bound, and says what it has left out.
func TestTracesAreBounded(t *testing.T) {
	const beyond = 7
	tr := trace.New(env.Monotonic)
	tr.Open(history.Header{Nodes: 1, Clients: 1}, nil)
	for i := range trace.MostRecords + beyond {
		tr.Record(&history.Event{Time: history.Time(i), Kind: history.NodeDown, Node: 1})
	}
	var text strings.Builder
	if err := tr.Print(&text, checker.Finding{}); err != nil {
		t.Fatal(err)
	}
	if want := "\n7 steps more came after that, for which a trace of 200000 has no room.\n"; !strings.HasSuffix(text.String(), want) {
		t.Errorf("it ends with %q: want %q", text.String()[text.Len()-200:], want)
	}
}
