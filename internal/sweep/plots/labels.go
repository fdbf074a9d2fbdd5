package plots

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mark is a vertical line at X, with a label above the data.
type Mark struct {
	X     float64
	Label string
}

const markHeight = vg.Length(textSize * 1.4)

// markLabel is the label of a mark, beside its line, in a row above the data.
type markLabel struct {
	label        string
	at, from, to vg.Length // the line, and the ends of the text
	row          int       // the lowest is 0
}

// overlaps reports whether two labels touch, or the line of one crosses the other.
func (f markLabel) overlaps(o markLabel) bool {
	crossed := func(f, line markLabel) bool { return f.row <= line.row && f.from < line.at && line.at < f.to }
	touch := f.row == o.row && f.from < o.to+textSize && o.from < f.to+textSize
	return touch || crossed(f, o) || crossed(o, f)
}

// placeMarkLabels gives every label the lowest row in which it overlaps no other. Labels are
// right of their lines, and are placed from right to left: then none is in the way of a line
// that is still to come. Those with no room on the right are left of their lines, and are
// placed from left to right.
func placeMarkLabels(marks []Mark, x scale, data draw.Canvas) (labels []markLabel, rows int) {
	var left []markLabel
	for _, m := range marks {
		width := textStyle(textSize).Width(m.Label)
		at := data.X(x.norm(m.X))
		if at+3+width <= data.Max.X {
			labels = append(labels, markLabel{m.Label, at, at + 3, at + 3 + width, 0})
		} else {
			left = append(left, markLabel{m.Label, at, at - 3 - width, at - 3, 0})
		}
	}
	slices.SortStableFunc(labels, func(a, b markLabel) int { return cmp.Compare(b.at, a.at) })
	slices.SortStableFunc(left, func(a, b markLabel) int { return cmp.Compare(a.at, b.at) })
	labels = append(labels, left...)
	for i := range labels {
		// A line may have to cross a label after all: no row is then free of that, and it
		// is enough to be above all others.
		for labels[i].row < rows && slices.ContainsFunc(labels[:i], labels[i].overlaps) {
			labels[i].row++
		}
		rows = max(rows, labels[i].row+1)
	}
	return labels, rows
}

var markLine = draw.LineStyle{Color: faint, Width: 1, Dashes: []vg.Length{4, 2}}

// drawLines draws the lines of the marks, below the data.
func (f *figure) drawLines(data draw.Canvas) {
	for _, m := range f.marks {
		x := data.X(f.x.norm(m.X))
		data.StrokeLine2(markLine, x, data.Min.Y, x, data.Max.Y)
	}
}

// drawMarkLabels draws what is above the data: first the lines, then the labels.
func drawMarkLabels(labels []markLabel, data draw.Canvas) {
	for _, f := range labels {
		data.StrokeLine2(markLine, f.at, data.Max.Y, f.at, f.base(data)+textSize)
	}
	for _, f := range labels {
		low, high := f.base(data)+1, f.base(data)+textSize+1
		data.FillPolygon(color.White, []vg.Point{{X: f.from, Y: low}, {X: f.to, Y: low}, {X: f.to, Y: high}, {X: f.from, Y: high}})
		drawText(data, textStyle(textSize), f.from, f.base(data)+4, draw.XLeft, f.label)
	}
}

// base returns the lower end of the label's row.
func (f markLabel) base(data draw.Canvas) vg.Length { return data.Max.Y + vg.Length(f.row)*markHeight }

const (
	// Names are drawn where curves end if these ends are at least minGap apart, and no name is
	// farther than maxShift from its end.
	minGap   = vg.Length(3)
	maxShift = 1.5 * entryHeight

	besideGap = vg.Length(16) // between the data and the names, for thin lines that connect them
)

// splitLegend divides the legend into names beside the data, each where its curve ends, and
// entries below. All curves have their names beside them, or none does: if two end at the same
// place, or one far from the edge, or many close together, or if names are long.
func (f *figure) splitLegend(c draw.Canvas) (right, below []entry) {
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
	// The least space above and below the data.
	c.Max.Y -= (c.Max.Y - c.Min.Y) * 0.4
	ends, names := f.ends(c, right)
	for i := range right {
		if i > 0 && ends[i]-ends[i-1] < minGap || max(ends[i]-names[i], names[i]-ends[i]) > maxShift {
			return nil, f.legend
		}
	}
	if rightWidth(right) > (c.Max.X-c.Min.X)*0.3 {
		return nil, f.legend
	}
	return right, below
}

// ends returns the ends of the curves on the canvas, from the bottom, and the heights of their
// names. Names do not touch: each is half-way between where it would be if names were moved
// only up, and only down.
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

// rightWidth returns the width of the names beside the data.
func rightWidth(entries []entry) (widest vg.Length) {
	for _, e := range entries {
		widest = max(widest, besideGap+e.width()-entryGap)
	}
	return widest
}

// drawNamesBesideCurves draws names where their curves end.
func (f *figure) drawNamesBesideCurves(data draw.Canvas, entries []entry) {
	ends, names := f.ends(data, entries)
	for i, e := range entries {
		from := vg.Point{X: data.X(f.x.norm(e.end.X)), Y: ends[i]}
		to := vg.Point{X: data.Max.X + besideGap - 2, Y: names[i]}
		data.StrokeLines(draw.LineStyle{Color: faint, Width: 0.5}, []vg.Point{from, to})
		e.draw(data, vg.Point{X: data.Max.X + besideGap, Y: names[i] - entryHeight/2})
	}
}

// labelPlacer places labels in the free area of a picture.
type labelPlacer struct {
	bounds vg.Rectangle
	taken  []vg.Rectangle
	labels []vg.Rectangle // of these, the labels
}

func (r *labelPlacer) dot(at vg.Point, radius vg.Length) {
	r.taken = append(r.taken, vg.Rectangle{
		Min: vg.Point{X: at.X - radius, Y: at.Y - radius},
		Max: vg.Point{X: at.X + radius, Y: at.Y + radius},
	})
}

// line marks the area of a line as taken, as dots that are closer than a letter is wide.
func (r *labelPlacer) line(from, to vg.Point) {
	const step = 2
	way := to.Sub(from)
	n := int(max(way.X, -way.X, way.Y, -way.Y)/step) + 1
	for i := range n + 1 {
		r.dot(from.Add(way.Scale(vg.Length(i)/vg.Length(n))), 1)
	}
}

// isFree reports whether a text fits and covers nothing. A line that leads to it may cross
// anything except other texts.
func (r *labelPlacer) isFree(box, lead vg.Rectangle) bool {
	inside := box.Min.X >= r.bounds.Min.X && box.Max.X <= r.bounds.Max.X && box.Min.Y >= r.bounds.Min.Y && box.Max.Y <= r.bounds.Max.Y
	return inside && !overlaps(box, r.taken) && !overlaps(lead, r.labels)
}

// label draws a text in the nearest free place beside a point, with a thin line to it if it is
// not close. It omits a text for which there is no place.
func (r *labelPlacer) label(c draw.Canvas, text string, at vg.Point, radius vg.Length) {
	style := textStyle(textSize)
	width := style.Width(text)
	for _, far := range distances {
		for _, way := range directions {
			end := at.Add(way.Scale(radius + far))
			box := textBox(end, way, width)
			if !r.isFree(box, boxAround(at, end)) {
				continue
			}
			r.taken, r.labels = append(r.taken, box), append(r.labels, box)
			if far > distances[0] {
				c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.5}, at.X+way.X*radius, at.Y+way.Y*radius, end.X, end.Y)
			}
			drawText(c, style, box.Min.X+1, box.Min.Y+0.25*textSize, draw.XLeft, text)
			return
		}
	}
}

func overlaps(box vg.Rectangle, others []vg.Rectangle) bool {
	return slices.ContainsFunc(others, func(o vg.Rectangle) bool {
		return box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y
	})
}

// boxAround returns the box with two points in its corners.
func boxAround(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.X, b.X) - 0.5, Y: min(a.Y, b.Y) - 0.5},
		Max: vg.Point{X: max(a.X, b.X) + 0.5, Y: max(a.Y, b.Y) + 0.5},
	}
}

// directions are where a label is tried, and distances how far from the edge of its marker, in
// points.
var (
	directions = []vg.Point{{X: 1, Y: 0}, {X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: 0}, {X: -1, Y: -1}, {X: 0, Y: 1}, {X: 0, Y: -1}}
	distances  = []vg.Length{3, 8, 14, 22, 32, 45}
)

// textBox returns the box of a text that begins, ends or is centred at a point, depending on
// the direction.
func textBox(end, way vg.Point, width vg.Length) vg.Rectangle {
	const height = vg.Length(textSize * 1.15)
	low := vg.Point{X: end.X - width/2, Y: end.Y - height/2}
	switch {
	case way.X > 0:
		low.X = end.X
	case way.X < 0:
		low.X = end.X - width - 2
	}
	switch {
	case way.X == 0 && way.Y > 0:
		low.Y = end.Y
	case way.X == 0 && way.Y < 0:
		low.Y = end.Y - height
	}
	return vg.Rectangle{Min: low, Max: vg.Point{X: low.X + width + 2, Y: low.Y + height}}
}
