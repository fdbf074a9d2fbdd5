package tune

import (
	"math"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// grid is into how many cells a slack is cut, and fine into how many each of these: values are
// rounded up to a fine cell and then shared out to the two neighbouring grid points.
const (
	grid = 256
	fine = 8
)

// masses are probabilities of the grid points 0, …, grid; what is missing to 1 is beyond.
type masses [grid + 1]float64

// discretise puts a distribution on the grid, given what share of it is above a duration.
func discretise(slack time.Duration, above func(time.Duration) float64) (m masses) {
	m[0] = 1 - above(0)
	step := float64(slack) / (grid * fine)
	before := above(0)
	for i := 1; i <= grid*fine; i++ {
		after := above(time.Duration(step * float64(i)))
		cell, part := i/fine, float64(i%fine)/fine
		m[cell] += (before - after) * (1 - part)
		if part > 0 {
			m[cell+1] += (before - after) * part
		}
		before = after
	}
	return m
}

// plus is the distribution of the sum.
func (m *masses) plus(o *masses) (sum masses) {
	for i, a := range m {
		if a == 0 {
			continue
		}
		for j, b := range o[:grid+1-i] {
			sum[i+j] += a * b
		}
	}
	return sum
}

// beyond is what is missing to 1.
func (m *masses) beyond() float64 {
	sum := 0.0
	for _, p := range m {
		sum += p
	}
	return min(1, max(0, 1-sum))
}

// mostAtOnce bounds the expected count for which Panjer's recursion begins with a number that
// can be told from 0.
const mostAtOnce = 32

// compound is the distribution of the sum of a Poisson number of independent values.
func compound(expected float64, value *masses) (sum masses) {
	halvings := 0
	for ; expected > mostAtOnce; halvings++ {
		expected /= 2
	}
	sum[0] = math.Exp(expected * (value[0] - 1))
	for k := 1; k <= grid; k++ {
		for j := 1; j <= k; j++ {
			sum[k] += float64(j) * value[j] * sum[k-j]
		}
		sum[k] *= expected / float64(k)
	}
	for range halvings {
		sum = sum.plus(&sum)
	}
	return sum
}

// lateness is what makes a holder late.
type lateness struct {
	pauses Pauses
	trip   nemesis.Distribution
	trips  int // round trips of the resource
}

// beyond is the probability that pauses while it runs so long, and the round trips, take longer
// together than a slack.
func (l lateness) beyond(running, slack time.Duration) float64 {
	if slack < 0 {
		return 1
	}
	total := masses{0: 1}
	switch p := l.pauses; {
	case p.Unbounded: // see Figures.Late
	case p.Bound != nil:
		slack -= *p.Bound
		if slack < 0 {
			return 1
		}
	default:
		length := discretise(slack, func(x time.Duration) float64 { return pausesAbove(*p.Length, x) })
		total = compound(float64(running)/float64(p.Every), &length)
	}
	trip := discretise(slack, func(x time.Duration) float64 { return above(l.trip, x) })
	for range l.trips {
		total = total.plus(&trip)
	}
	if p := total.beyond(); p > noise {
		return p
	}
	return 0
}

// noise is what rounding leaves of 1 minus a sum of so many numbers.
const noise = 1e-13
