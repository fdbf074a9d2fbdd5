package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// room is a picture's area with what is taken of it.
type room struct {
	bounds vg.Rectangle
	taken  []vg.Rectangle
	labels []vg.Rectangle // of these, the labels
}

func (r *room) dot(at vg.Point, radius vg.Length) {
	r.taken = append(r.taken, vg.Rectangle{
		Min: vg.Point{X: at.X - radius, Y: at.Y - radius},
		Max: vg.Point{X: at.X + radius, Y: at.Y + radius},
	})
}

// line takes what is beneath a line, as dots that are closer than a letter is wide.
func (r *room) line(from, to vg.Point) {
	const step = 2
	way := to.Sub(from)
	n := int(max(way.X, -way.X, way.Y, -way.Y)/step) + 1
	for i := range n + 1 {
		r.dot(from.Add(way.Scale(vg.Length(i)/vg.Length(n))), 1)
	}
}

// free says whether a text has its place inside, and nothing is in its way; a line that
// leads to it may cross anything but other texts.
func (r *room) free(box, lead vg.Rectangle) bool {
	inside := box.Min.X >= r.bounds.Min.X && box.Max.X <= r.bounds.Max.X && box.Min.Y >= r.bounds.Min.Y && box.Max.Y <= r.bounds.Max.Y
	return inside && !meet(box, r.taken) && !meet(lead, r.labels)
}

func meet(box vg.Rectangle, others []vg.Rectangle) bool {
	return slices.ContainsFunc(others, func(o vg.Rectangle) bool {
		return box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y
	})
}

// between is the box with two points in its corners.
func between(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.X, b.X) - 0.5, Y: min(a.Y, b.Y) - 0.5},
		Max: vg.Point{X: max(a.X, b.X) + 0.5, Y: max(a.Y, b.Y) + 0.5},
	}
}

// ways are the directions in which a label is tried, and how far, in points from the edge
// of what it names.
var (
	ways = []vg.Point{{X: 1, Y: 0}, {X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: 0}, {X: -1, Y: -1}, {X: 0, Y: 1}, {X: 0, Y: -1}}
	away = []vg.Length{3, 8, 14, 22, 32, 45}
)

// label writes a text in the nearest free place beside a point, with a thin line to it
// where it is not close. A text for which there is no place is left out: what it names is
// then told apart by its marker alone.
func (r *room) label(c draw.Canvas, text string, at vg.Point, radius vg.Length) {
	style := letters(textSize)
	width := style.Width(text)
	for _, far := range away {
		for _, way := range ways {
			end := at.Add(way.Scale(radius + far))
			box := beside(end, way, width)
			if !r.free(box, between(at, end)) {
				continue
			}
			r.taken, r.labels = append(r.taken, box), append(r.labels, box)
			if far > away[0] {
				c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.5}, at.X+way.X*radius, at.Y+way.Y*radius, end.X, end.Y)
			}
			write(c, style, box.Min.X+1, box.Min.Y+0.25*textSize, draw.XLeft, text)
			return
		}
	}
}

// beside is the box of a text that begins, ends or is centred at a place, seen from the
// way that leads there.
func beside(end, way vg.Point, width vg.Length) vg.Rectangle {
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
