package main

import (
	"time"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shrink"
)

// shrinkShare is the part of a hunt's budget that the shrinking of its finds may take on
// top, where --shrink says nothing else.
const shrinkShare = 4

// shrinkTime is how long it may take to shrink all finds; 0: as long as it takes. A hunt
// without a budget is the same whenever it is repeated, so what bounds its shrinking by
// itself is the number of events and no time.
func (o *huntOptions) shrinkTime() time.Duration {
	if o.shrink != 0 {
		return o.shrink
	}
	return o.budget / shrinkShare
}

// shrinking gives out the time for shrinking.
type shrinking struct {
	taker shrink.Minimizer
	end   time.Time // when it is used up; zero: never
}

func (o *huntOptions) shrinking(q quest) shrinking {
	s := shrinking{taker: shrink.Minimizer{Backend: q.Backend, Terms: q.Terms, Promised: fuzz.PromisedTerms}}
	if all := o.shrinkTime(); all > 0 {
		s.end = time.Now().Add(all)
	}
	return s
}

// share returns who shrinks the next find: its time is an equal share of what is left for
// so many.
func (s shrinking) share(finds int) shrink.Minimizer {
	t := s.taker
	if !s.end.IsZero() {
		t.Time = max(time.Until(s.end)/time.Duration(finds), time.Nanosecond)
	}
	return t
}
