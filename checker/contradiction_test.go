package checker_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

func contradicted(h history.Header, events []history.Event) error {
	panel := checker.NewPanel(h)
	for i := range events {
		panel.Record(&events[i])
	}
	panel.Finish()
	return panel.Err()
}

// Law: a history that can be true is not refused, whatever the order in which the events
// of an instant are recorded.
func TestWhatCanBeIsNotRefused(t *testing.T) {
	repeat(t, 5_000, func(t *rapid.T) {
		header, events := write(drawScripts(t), rapid.Uint64().Draw(t, "order"))
		if err := contradicted(header, events); err != nil {
			t.Fatal(err)
		}
	})
	repeat(t, 500, func(t *rapid.T) {
		header, events := drawLedgered(t).write(rapid.Uint64().Draw(t, "order"))
		if err := contradicted(header, events); err != nil {
			t.Fatal(err)
		}
	})
}
