package inevitable

import (
	"context"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Point is the probability of the violation after an event of the run. The first point is before
// all events.
type Point struct {
	Event    int             `json:"event"` // of the world, as in a [runner.Branch]
	Time     history.Time    `json:"t"`
	What     []history.Event `json:"-"`
	Violated runner.Rate     `json:"violated"` // futures that violate the property, of all
}

// Jump is a rise of the probability between two points.
type Jump struct {
	Before Point `json:"before"`
	After  Point `json:"after"`

	// Between is the number of events of the history between the two that were not looked at.
	Between int `json:"between,omitempty"`
}

// Size returns the rise, from -1 to 1.
func (j Jump) Size() float64 { return j.After.Violated.Share() - j.Before.Violated.Share() }

// certain reports whether chance alone makes such a rise in less than one of twenty cases: the
// intervals of the two points are compared by Newcombe's method (Interval Estimation for the
// Difference between Independent Proportions, Statistics in Medicine 17, 1998, method 10).
func (j Jump) certain() bool {
	a, b := j.Before.Violated, j.After.Violated
	_, highA := a.Wilson()
	lowB, _ := b.Wilson()
	return j.Size()-math.Hypot(b.Share()-lowB, highA-a.Share()) > 0
}

// curve is the probability over the time of a run, as far as it is known.
type curve struct {
	*past
	futures  *futures
	each     int    // futures of a moment
	most     int    // futures in all at which no further moment is looked at
	progress func() // is called after each moment; may be nil

	known map[int]Point // by the number of the moment; -1 is before all
	runs  int
}

// coarse is the number of moments, evenly spaced, that are looked at first.
const coarse = 12

// small is the difference of two probabilities up to which nothing between them is looked at.
const small = 0.1

// trace looks at the moments at which faults begin and locks are granted, and at some evenly spaced
// ones. Then it halves the interval with the largest difference again and again.
func (c *curve) trace(ctx context.Context) error {
	first := []int{-1, len(c.moments) - 1}
	for i, m := range c.moments {
		if slices.ContainsFunc(m.events, decides) && len(first) < 2*coarse {
			first = append(first, i-1, i)
		}
	}
	for i := range coarse {
		first = append(first, i*len(c.moments)/coarse)
	}
	for _, i := range first {
		if err := c.look(ctx, i); err != nil {
			return err
		}
	}
	for ctx.Err() == nil && c.runs < c.most {
		middle, found := c.widest()
		if !found {
			return nil
		}
		if err := c.look(ctx, middle); err != nil {
			return err
		}
	}
	return nil
}

// decides reports whether an event is one that often decides.
func decides(e history.Event) bool { return e.Kind == history.FaultStart || e.Kind == history.Granted }

// look finds the probability after a moment.
func (c *curve) look(ctx context.Context, i int) error {
	if _, done := c.known[i]; done || ctx.Err() != nil || c.runs >= c.most {
		return nil
	}
	var p Point
	var begun uint64
	if i >= 0 {
		m := c.moments[i]
		p, begun = Point{Event: m.event, Time: m.time, What: m.events}, m.begun
	}
	rate, err := count(ctx, c.each, func(ctx context.Context, number uint64) (bool, error) {
		return c.futures.violates(ctx, p.Event, begun, number)
	})
	if err != nil || rate.N == 0 {
		return err
	}
	p.Violated = rate
	c.known[i], c.runs = p, c.runs+rate.N
	if c.progress != nil {
		c.progress()
	}
	return nil
}

// widest returns the moment in the middle of the interval with the largest difference, if one is
// large enough.
func (c *curve) widest() (middle int, found bool) {
	order, best := c.order(), small
	for n := range len(order) - 1 {
		from, to := order[n], order[n+1]
		if by := math.Abs(c.known[to].Violated.Share() - c.known[from].Violated.Share()); to-from > 1 && by > best {
			middle, found, best = (from+to)/2, true, by
		}
	}
	return middle, found
}

// order returns the moments that were looked at, in their order.
func (c *curve) order() []int {
	var all []int
	for i := range c.known {
		all = append(all, i)
	}
	slices.Sort(all)
	return all
}
