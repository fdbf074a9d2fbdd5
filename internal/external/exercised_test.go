package external_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// What a test has tried of permits is said only of a lock that has several.
func TestTheLastLineTellsOfPermits(t *testing.T) {
	const holds = `
		0 acquire c1 A
		1 granted c1 A weight=1
		2 acquire c2 B
		3 granted c2 B weight=1
		4 acquire c3 C
		5 refused c3 C
		6 release c1 A
		6 released c1 A
		9 end`
	for capacity, want := range map[string]string{
		"header capacity=2": "1 grant beside other holds, 1 call while no permit was free;",
		"header capacity=3": "1 grant beside other holds; not exercised: ",
		"header":            "",
	} {
		header, events, err := historytest.Parse(capacity + holds)
		if err != nil {
			t.Fatal(err)
		}
		var o external.Outcome
		line := timeline.New(header)
		o.Exercised.Reader()(line)
		for i := range events {
			line.Record(&events[i])
		}
		line.Close()
		var all external.Summary
		all.Add(&o, false)
		said := all.String()
		if want == "" && strings.Contains(said, "permit") || !strings.Contains(said, want) {
			t.Errorf("%s: %s: want %q", capacity, said, want)
		}
	}
}
