package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Front is settings to choose from, each at what it costs in two respects.
type Front struct {
	Title    string
	X, Y     Axis
	Settings []Setting
	Marks    []Mark
}

// Setting is one that can be chosen.
type Setting struct {
	X, Y float64

	// Label stands beside it, as far as there is room; "" is none.
	Label string

	// Best is of a setting that no other beats in all respects: these are joined, in the
	// order of X. Recommended is of the one that is advised, and there is one at most.
	Best, Recommended bool
}

func (f Front) figure() (*figure, error) {
	xs, ys, err := f.values()
	if err != nil {
		return nil, err
	}
	fig := &figure{title: f.Title, marks: f.Marks, legend: f.entries()}
	if fig.x, err = f.X.paddedScale(xs); err != nil {
		return nil, err
	}
	if fig.y, err = f.Y.paddedScale(ys); err != nil {
		return nil, err
	}
	fig.layers = []layer{f.join, f.dots, f.labels}
	for _, s := range f.Settings {
		if err := printable(s.Label); err != nil {
			return nil, err
		}
	}
	return fig, nil
}

func (f Front) values() (xs, ys []float64, err error) {
	if len(f.Settings) == 0 {
		return nil, nil, ErrEmpty
	}
	recommended := 0
	for i, s := range f.Settings {
		if err := (XY{s.X, s.Y}).check(f.X, f.Y); err != nil {
			return nil, nil, fmt.Errorf("setting %d %q: %w", i+1, s.Label, err)
		}
		if s.Recommended {
			recommended++
		}
		xs, ys = append(xs, s.X), append(ys, s.Y)
	}
	if recommended > 1 {
		return nil, nil, fmt.Errorf("%d settings are recommended, and one should be", recommended)
	}
	for _, m := range f.Marks {
		if err := f.X.check(m.X); err != nil {
			return nil, nil, fmt.Errorf("mark %q: %w", m.Label, err)
		}
		xs = append(xs, m.X)
	}
	return xs, ys, nil
}

// best are the settings on the front, by X.
func (f Front) best() (list []Setting) {
	for _, s := range f.Settings {
		if s.Best {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b Setting) int { return cmp.Compare(a.X, b.X) })
	return list
}

var joined = draw.LineStyle{Color: hues[0], Width: 1.4}

func (f Front) join(c draw.Canvas, fig *figure) {
	var line []vg.Point
	for _, s := range f.best() {
		line = append(line, fig.point(c, XY{s.X, s.Y}))
	}
	if len(line) > 1 {
		c.StrokeLines(joined, line)
	}
}

var (
	beaten      = draw.GlyphStyle{Color: faint, Radius: 2.2, Shape: markers[0]}
	best        = draw.GlyphStyle{Color: hues[0], Radius: 3, Shape: filled{markers[1]}}
	recommended = draw.GlyphStyle{Color: hues[1], Radius: 5.5, Shape: filled{markers[3]}}
)

// glyph is how a setting is drawn.
func (s Setting) glyph() draw.GlyphStyle {
	switch {
	case s.Recommended:
		return recommended
	case s.Best:
		return best
	}
	return beaten
}

// byWeight are the settings with those last that should lie on top.
func (f Front) byWeight() []Setting {
	list := slices.Clone(f.Settings)
	slices.SortStableFunc(list, func(a, b Setting) int { return cmp.Compare(a.glyph().Radius, b.glyph().Radius) })
	return list
}

func (f Front) dots(c draw.Canvas, fig *figure) {
	for _, s := range f.byWeight() {
		c.DrawGlyph(s.glyph(), fig.point(c, XY{s.X, s.Y}))
	}
}

// labels writes the labels where they cover neither points nor lines nor each other, the
// most important first.
func (f Front) labels(c draw.Canvas, fig *figure) {
	room := labelPlacer{bounds: c.Rectangle}
	for _, s := range f.Settings {
		room.dot(fig.point(c, XY{s.X, s.Y}), s.glyph().Radius+1)
	}
	line := f.best()
	for i := 1; i < len(line); i++ {
		room.line(fig.point(c, XY{line[i-1].X, line[i-1].Y}), fig.point(c, XY{line[i].X, line[i].Y}))
	}
	for _, s := range slices.Backward(f.byWeight()) {
		if s.Label != "" {
			room.label(c, s.Label, fig.point(c, XY{s.X, s.Y}), s.glyph().Radius)
		}
	}
}

func (f Front) entries() (list []entry) {
	has := func(g draw.GlyphStyle) bool {
		return slices.ContainsFunc(f.Settings, func(s Setting) bool { return s.glyph() == g })
	}
	if has(recommended) {
		list = append(list, entry{name: "recommended", thumbs: []thumb{dot(recommended)}})
	}
	if has(best) {
		list = append(list, entry{name: "Pareto front", thumbs: []thumb{sample(joined), dot(best)}})
	}
	if has(beaten) {
		list = append(list, entry{name: "beaten by another", thumbs: []thumb{dot(beaten)}})
	}
	return list
}

// labelPlacer is a picture's area with what is taken of it.
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

// line takes what is beneath a line, as dots that are closer than a letter is wide.
func (r *labelPlacer) line(from, to vg.Point) {
	const step = 2
	way := to.Sub(from)
	n := int(max(way.X, -way.X, way.Y, -way.Y)/step) + 1
	for i := range n + 1 {
		r.dot(from.Add(way.Scale(vg.Length(i)/vg.Length(n))), 1)
	}
}

// isFree says whether a text has its place inside, and nothing is in its way; a line that
// leads to it may cross anything but other texts.
func (r *labelPlacer) isFree(box, lead vg.Rectangle) bool {
	inside := box.Min.X >= r.bounds.Min.X && box.Max.X <= r.bounds.Max.X && box.Min.Y >= r.bounds.Min.Y && box.Max.Y <= r.bounds.Max.Y
	return inside && !overlaps(box, r.taken) && !overlaps(lead, r.labels)
}

func overlaps(box vg.Rectangle, others []vg.Rectangle) bool {
	return slices.ContainsFunc(others, func(o vg.Rectangle) bool {
		return box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y
	})
}

// boxAround is the box with two points in its corners.
func boxAround(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.X, b.X) - 0.5, Y: min(a.Y, b.Y) - 0.5},
		Max: vg.Point{X: max(a.X, b.X) + 0.5, Y: max(a.Y, b.Y) + 0.5},
	}
}

// directions are the directions in which a label is tried, and how far, in points from the edge
// of what it names.
var (
	directions = []vg.Point{{X: 1, Y: 0}, {X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: 0}, {X: -1, Y: -1}, {X: 0, Y: 1}, {X: 0, Y: -1}}
	distances  = []vg.Length{3, 8, 14, 22, 32, 45}
)

// label writes a text in the nearest free place beside a point, with a thin line to it
// where it is not close. A text for which there is no place is left out: what it names is
// then told apart by its marker alone.
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

// textBox is the box of a text that begins, ends or is centred at a place, seen from the
// way that leads there.
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
