package plots

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	// apart is how far from each other curves have to end, for their names to stand
	// there, and shift how far from there a name may be.
	apart = vg.Length(3)
	shift = 1.5 * entryHeight

	besideGap = vg.Length(16) // between the data and the names, for thin lines from the one to the other
)

// beside splits the legend in what stands right of the data, each curve's name where it
// ends, and what stands below. Either all curves have their names beside them, or none:
// that is so where two end at the same place, or one far from the edge, or many close
// together, or where names are long.
func (f *figure) beside(c draw.Canvas) (right, below []entry) {
	for _, e := range f.legend {
		switch {
		case e.key:
			below = append(below, e)
		case e.end == nil || f.x.norm(e.end.X) < 0.9:
			return nil, f.legend
		default:
			right = append(right, e)
		}
	}
	slices.SortStableFunc(right, func(a, b entry) int { return cmp.Compare(a.end.Y, b.end.Y) })
	// What is above and below the data leaves them this, at least.
	c.Max.Y -= (c.Max.Y - c.Min.Y) * 0.4
	ends, names := f.ends(c, right)
	for i := range right {
		if i > 0 && ends[i]-ends[i-1] < apart || max(ends[i]-names[i], names[i]-ends[i]) > shift {
			return nil, f.legend
		}
	}
	if rightWidth(right) > (c.Max.X-c.Min.X)*0.3 {
		return nil, f.legend
	}
	return right, below
}

// ends are where on the canvas the curves end, from below, and how high their names stand
// so that they do not touch: half-way between where they would be if they were moved
// upwards only, and downwards only.
func (f *figure) ends(c draw.Canvas, entries []entry) (ends, names []vg.Length) {
	for _, e := range entries {
		ends = append(ends, c.Y(f.y.norm(e.end.Y)))
	}
	up, down := slices.Clone(ends), slices.Clone(ends)
	for i := 1; i < len(ends); i++ {
		up[i] = max(up[i], up[i-1]+entryHeight)
	}
	for i := len(ends) - 2; i >= 0; i-- {
		down[i] = min(down[i], down[i+1]-entryHeight)
	}
	for i := range ends {
		names = append(names, (up[i]+down[i])/2)
	}
	return ends, names
}

// rightWidth is what the entries take right of the data.
func rightWidth(entries []entry) (widest vg.Length) {
	for _, e := range entries {
		widest = max(widest, besideGap+e.width()-entryGap)
	}
	return widest
}

// drawBeside writes the entries where their curves end.
func (f *figure) drawBeside(data draw.Canvas, entries []entry) {
	ends, names := f.ends(data, entries)
	for i, e := range entries {
		from := vg.Point{X: data.X(f.x.norm(e.end.X)), Y: ends[i]}
		to := vg.Point{X: data.Max.X + besideGap - 2, Y: names[i]}
		data.StrokeLines(draw.LineStyle{Color: faint, Width: 0.5}, []vg.Point{from, to})
		e.draw(data, vg.Point{X: data.Max.X + besideGap, Y: names[i] - entryHeight/2})
	}
}
