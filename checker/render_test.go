package checker

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// Different times of nodes are each printed; of many nodes the first and the last.
func TestTimesOfLosses(t *testing.T) {
	const ms = history.Time(time.Millisecond)
	for _, c := range []struct {
		when []NodeTime
		want string
	}{
		{[]NodeTime{{3, 421 * ms}}, "at 421ms"},
		{[]NodeTime{{3, 1000 * ms}, {4, 1001 * ms}}, "at 1.001s"},
		{[]NodeTime{{3, 421 * ms}, {4, 1021 * ms}}, "at 421ms and 1.021s"},
		{[]NodeTime{{3, 1021 * ms}, {4, 421 * ms}}, "at 1.021s and 421ms"},
		{[]NodeTime{{1, 500 * ms}, {3, 421 * ms}, {4, 1021 * ms}}, "between 421ms and 1.021s"},
	} {
		if got := times(c.when); got != c.want {
			t.Errorf("%v: got %q, want %q", c.when, got, c.want)
		}
	}
}
