// Package historytest writes histories for tests and benchmarks of what reads them: of
// given events, in a notation for people, or of any length, and packed.
package historytest

import (
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Text is a history as it is stored.
func Text(h history.Header, events []history.Event) string {
	var b strings.Builder
	w := history.NewWriter(&b, h)
	for i := range events {
		w.Record(&events[i])
	}
	if err := w.Flush(); err != nil {
		panic(err) // of an event without a kind: a mistake of the test
	}
	return b.String()
}
