package fuzz

import "testing"

// The closest of many runs is the smallest that was measured of any, and what was not
// measured is not told.
func TestTheClosestIsTold(t *testing.T) {
	measured := func(votes, gapped, left int64) Near {
		c := closeness{}
		for m := range c.near {
			c.near[m] = far
		}
		c.near[rivalVotes], c.near[gap], c.near[remaining] = votes, gapped, left
		return c.told()
	}
	best := Near{}
	for _, c := range []struct {
		next Near
		want string
	}{
		{measured(far, far, far), ""},
		{measured(2<<timeBits+7, far, int64(5*ms)), "2 votes short, validity 5ms"},
		{measured(far, int64(30*ms), int64(9*ms)), "2 votes short, 30ms apart, validity 5ms"},
		{measured(1<<timeBits, 0, far), "1 vote short, 0s apart, validity 5ms"},
	} {
		if best = best.closer(c.next); best.String() != c.want {
			t.Errorf("%q: want %q", best, c.want)
		}
	}
}
