package locktest_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/locktest"
)

// Law: a failure gets half of what the storms that are left will not need, by what runs took so far,
// and all of it after the last storm. Three re-runs are made whatever the time.
func TestBudgetIsShared(t *testing.T) {
	for _, c := range []struct {
		name      string
		runs      int // of a second each, so far
		left      int // runs of storms to come
		share     time.Duration
		wantRerun int // of a second each
	}{
		{"nothing to come", 5, 0, 10 * time.Second, 10},
		{"other storms", 5, 4, 3 * time.Second, 3},
		{"storms that need all", 5, 10, 0, 3},
		{"storms that need more", 5, 1000, 0, 3},
		{"too late", 20, 0, 0, 3},
		{"no run so far", 0, 4, 7500 * time.Millisecond, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := locktest.NewBudget(15 * time.Second)
			for range c.runs {
				b.Run(time.Second)
			}
			if got := b.Share(c.left); got != c.share {
				t.Errorf("the share is %v: want %v", got, c.share)
			}
			if got := b.Reruns(c.left, time.Second); got != c.wantRerun {
				t.Errorf("%d re-runs: want %d", got, c.wantRerun)
			}
		})
	}
}
