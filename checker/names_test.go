package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/historytest"
)

// No sentence has a name in full for which a line has no room.
func TestLongNamesAreCut(t *testing.T) {
	name := strings.Repeat("a", 10_000)
	header, events, err := historytest.Parse(`header nodes=3 ttl=10
		0 acquire c1 x
		1 granted c1 x until=11 left=8 fence=2
		3 acquire c2 y
		4 granted c2 y until=14 left=8 fence=1
		5 end`)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if e := &events[i]; e.Token != "" {
			e.Resource, e.Token = name, name+e.Token
		}
	}
	for _, f := range judge(header, events).Findings {
		for _, e := range f.Events {
			if text := e.Text; len(text) > 600 || e.Token != "" && !strings.Contains(text, "aaa…aaa") {
				t.Error(fmt.Sprintf("%.200q", text), "has", len(text), "bytes")
			}
		}
		if p := f.Property; (p == checker.Lease || p == checker.Section || p == checker.Fence) != (f.Verdict == checker.Violated) {
			t.Errorf("%v is %v", p, f.Verdict)
		}
	}
}
