package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// widestShift is the greatest distance between points of two curves that have the same x. It
// leaves room for a marker and the caps of a bar.
const widestShift = 2*radius + 1

// apart sets points apart that have the same x, and would hide each other: each curve has its
// points a little aside.
type apart struct {
	xs     []float64 // of all points, ascending and distinct
	places []int     // of a curve, from the left; -1: it is not moved
	n      int       // of the curves that are moved
}

// apart finds the curves that share an x with another.
func (c Curves) apart() apart {
	var a apart
	owners := map[float64]int{}
	for i, one := range c.Curves {
		for _, p := range one.Points {
			a.xs = append(a.xs, p.X)
			if j, taken := owners[p.X]; !taken {
				owners[p.X] = i
			} else if j != i {
				owners[p.X] = -1
			}
		}
	}
	slices.Sort(a.xs)
	a.xs = slices.Compact(a.xs)
	for _, one := range c.Curves {
		place := -1
		shares := slices.ContainsFunc(one.Points, func(p Point) bool { return owners[p.X] < 0 })
		if shares && !one.crowded() && !one.Scattered {
			place = a.n
			a.n++
		}
		a.places = append(a.places, place)
	}
	return a
}

// of returns the shift of a curve. All of them together take half of the least distance between
// two values of x.
func (a apart) of(curve int) func(draw.Canvas, *figure) vg.Length {
	if a.places[curve] < 0 || a.n < 2 {
		return noShift
	}
	return func(c draw.Canvas, f *figure) vg.Length {
		step := widestShift
		for i := 1; i < len(a.xs); i++ {
			between := c.X(f.x.norm(a.xs[i])) - c.X(f.x.norm(a.xs[i-1]))
			step = min(step, between/2/vg.Length(a.n-1))
		}
		return step * (vg.Length(a.places[curve]) - vg.Length(a.n-1)/2)
	}
}

func noShift(draw.Canvas, *figure) vg.Length { return 0 }
