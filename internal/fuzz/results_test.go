package fuzz_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/fuzz"
)

// An unsuccessful hunt counts as longer than any other, however soon it ended.
func TestUnsuccessfulHuntsAreTheLongest(t *testing.T) {
	var c fuzz.Attempts
	for i := 10; i >= 1; i-- {
		c = append(c, fuzz.Attempt{Found: i != 3, Runs: i, Took: time.Duration(i) * time.Second})
	}
	for _, q := range []struct {
		percent float64
		runs    int
		found   bool
	}{{0, 1, true}, {10, 1, true}, {30, 4, true}, {50, 6, true}, {90, 10, true}, {99, 0, false}} {
		runs, found := c.Runs(q.percent)
		took, _ := c.Took(q.percent)
		if runs != q.runs || found != q.found || took != time.Duration(q.runs)*time.Second {
			t.Errorf("%v %%: %d runs in %v, %v: want %d, %v", q.percent, runs, took, found, q.runs, q.found)
		}
	}
	if c.Found() != 9 {
		t.Errorf("%d of them have found something: want 9", c.Found())
	}
	if _, found := (fuzz.Attempts{}).Runs(50); found {
		t.Error("no hunt has found something")
	}
}
