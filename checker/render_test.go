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

// An overlap that begins with the end of the history has no length.
func TestOverlapAtTheEnd(t *testing.T) {
	s := Statement{Kind: Overlap, Client: 1, Detail: "window", End: &End{By: history.End.String(), Client: 2}}
	if got, want := s.String(), "while client 1 still held it: their windows begin to overlap, and the history ends"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.For = time.Millisecond
	if got, want := s.String(), "while client 1 still held it: their windows overlap by 1ms, until the history ended"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
