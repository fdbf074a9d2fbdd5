package checker_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/historytest"
)

// A fault is untried if no try began and none was granted after its end.
func TestUntriedFaults(t *testing.T) {
	for name, c := range map[string]struct {
		history string
		want    []int
	}{
		"tried after its end":       {"1 fault-start fault=1\n2 fault-end fault=1\n3 acquire c1 A\n9 end\n", nil},
		"granted after its end":     {"0 acquire c1 A\n1 fault-start fault=1\n2 fault-end fault=1\n3 granted c1 A until=9\n9 end\n", nil},
		"only released after it":    {"0 acquire c1 A\n1 granted c1 A until=9\n2 fault-start fault=1\n3 fault-end fault=1\n4 release c1 A\n5 released c1 A\n9 end\n", []int{1}},
		"tried while it went on":    {"1 fault-start fault=1\n2 acquire c1 A\n3 fault-end fault=1\n4 refused c1 A\n9 end\n", []int{1}},
		"it does not end":           {"1 fault-start fault=1\n2 acquire c1 A\n9 end\n", []int{1}},
		"of two only one was tried": {"1 fault-start fault=2\n2 fault-end fault=2\n3 acquire c1 A\n4 fault-start fault=1\n5 fault-end fault=1\n9 end\n", []int{1}},
	} {
		header, events, err := historytest.Parse(c.history)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		panel := checker.New(header, checker.Lease)
		for i := range events {
			panel.Record(&events[i])
		}
		if got := panel.Finish().Untried; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
