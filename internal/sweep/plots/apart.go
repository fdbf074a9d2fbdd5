package plots

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// widestShift is the greatest distance between points of two curves that have the same x. It
// leaves room for a marker and the caps of a bar.
const widestShift = 2*radius + 1

// apart sets points aside that have the same x as one of another curve, and would cover it or its
// interval. All others stay at their place, so that they can be compared with formulas.
type apart struct {
	xs      []float64 // of all points, ascending and distinct
	members map[float64][]member
}

// member is a point of a curve, with its interval.
type member struct {
	curve int
	Point
}

func (c Curves) apart() apart {
	a := apart{members: map[float64][]member{}}
	for i, one := range c.Curves {
		for _, p := range one.Points {
			a.xs = append(a.xs, p.X)
			if !one.crowded() && !one.Scattered {
				a.members[p.X] = append(a.members[p.X], member{i, p})
			}
		}
	}
	slices.Sort(a.xs)
	a.xs = slices.Compact(a.xs)
	return a
}

// of returns the shift of each point of a curve, by its x. Points that would cover each other take
// at most half of the least distance between two values of x.
func (a apart) of(curve int) func(draw.Canvas, *figure, float64) vg.Length {
	return func(c draw.Canvas, f *figure, x float64) vg.Length {
		together := a.together(c, f, x, curve)
		place := slices.Index(together, curve)
		if place < 0 || len(together) < 2 {
			return 0
		}
		others := vg.Length(len(together) - 1)
		step := widestShift
		for i := 1; i < len(a.xs); i++ {
			between := c.X(f.x.norm(a.xs[i])) - c.X(f.x.norm(a.xs[i-1]))
			step = min(step, between/2/others)
		}
		return step * (vg.Length(place) - others/2)
	}
}

// most returns the greatest shift of all points.
func (a apart) most(c draw.Canvas, f *figure) (most vg.Length) {
	for x, members := range a.members {
		for _, m := range members {
			shift := a.of(m.curve)(c, f, x)
			most = max(most, shift, -shift)
		}
	}
	return most
}

// together returns the curves whose points at x would cover that of a curve, or each other, with
// the curve itself.
func (a apart) together(c draw.Canvas, f *figure, x float64, curve int) []int {
	type extent struct {
		curve    int
		from, to vg.Length
	}
	var all []extent
	for _, m := range a.members[x] {
		from, to := f.point(c, XY{x, min(m.Lo, m.Y)}).Y, f.point(c, XY{x, max(m.Hi, m.Y)}).Y
		middle := f.point(c, XY{x, m.Y}).Y
		all = append(all, extent{m.curve, min(from, middle-radius), max(to, middle+radius)})
	}
	slices.SortStableFunc(all, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	var group []int
	end := vg.Length(0)
	for _, e := range all {
		if len(group) > 0 && e.from > end {
			if slices.Contains(group, curve) {
				break
			}
			group = nil
		}
		group, end = append(group, e.curve), max(end, e.to)
	}
	slices.Sort(group)
	return slices.Compact(group)
}

func noShift(draw.Canvas, *figure, float64) vg.Length { return 0 }
