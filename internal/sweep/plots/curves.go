package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curves are measured points with their intervals, curve by curve, and beside them what
// formulas say.
type Curves struct {
	Title  string
	X, Y   Axis
	Curves []Curve
	Marks  []Mark

	// Interval and Formula name in the legend what bars (or bands) and lines are; "" is
	// "interval" and "formula". They are told only if there are some.
	Interval, Formula string
}

// Curve is points that belong together, a formula for them, or both.
type Curve struct {
	Name   string
	Points []Point

	// Formula is the corners of the line that a formula gives. Where there is none, thin
	// lines join the points, unless these are Scattered: one beside the other for no reason.
	Formula   []XY
	Scattered bool
}

// Point is a value Y measured at X, with the interval in which the true one lies:
// Lo ≤ Y ≤ Hi. Where Lo and Hi are equal none is drawn.
type Point struct{ X, Y, Lo, Hi float64 }

// mostBars is up to how many points a curve has a bar for each; more become a band.
const mostBars = 50

func (c Curves) figure() (*figure, error) {
	xs, ys, err := c.values()
	if err != nil {
		return nil, err
	}
	f := &figure{title: c.Title, marks: c.Marks}
	if f.x, err = c.X.paddedScale(xs); err != nil {
		return nil, err
	}
	if f.y, err = c.Y.paddedScale(ys); err != nil {
		return nil, err
	}
	// Bands below all lines, and these below all points, so that none hides another's.
	for _, draws := range []func(Curve, curveStyle) layer{Curve.band, Curve.lines, Curve.bars, Curve.markers} {
		for i, one := range c.Curves {
			f.layers = append(f.layers, draws(one, curveStyleOf(i)))
		}
	}
	f.legend = c.entries()
	return f, nil
}

// values checks all points and lists where they are.
func (c Curves) values() (xs, ys []float64, err error) {
	for _, one := range c.Curves {
		for i, p := range one.Points {
			if err := p.check(c.X, c.Y); err != nil {
				return nil, nil, fmt.Errorf("curve %q, point %d: %w", one.Name, i+1, err)
			}
			xs, ys = append(xs, p.X), append(ys, p.Y, p.Hi)
			if !c.Y.Log || p.Lo > 0 {
				ys = append(ys, p.Lo)
			}
		}
		for i, p := range one.Formula {
			if err := p.check(c.X, c.Y); err != nil {
				return nil, nil, fmt.Errorf("curve %q, corner %d of the formula: %w", one.Name, i+1, err)
			}
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if len(xs) == 0 {
		return nil, nil, ErrEmpty
	}
	for _, m := range c.Marks {
		if err := c.X.check(m.X); err != nil {
			return nil, nil, fmt.Errorf("mark %q: %w", m.Label, err)
		}
		xs = append(xs, m.X)
	}
	return xs, ys, nil
}

func (p XY) check(x, y Axis) error {
	if err := x.check(p.X); err != nil {
		return err
	}
	return y.check(p.Y)
}

// rounding is by how much of itself an end of an interval may be on the wrong side of its
// point, as Wilson's is when nothing was found.
const rounding = 1e-9

func (p Point) check(x, y Axis) error {
	if err := (XY{p.X, p.Y}).check(x, y); err != nil {
		return err
	}
	slack := rounding * max(math.Abs(p.Lo), math.Abs(p.Y), math.Abs(p.Hi))
	if !(p.Lo <= p.Y+slack && p.Y <= p.Hi+slack) || math.IsInf(p.Lo, 0) || math.IsInf(p.Hi, 0) {
		return fmt.Errorf("the interval from %v to %v does not hold %v", p.Lo, p.Hi, p.Y)
	}
	if y.Log && p.Lo < 0 {
		return fmt.Errorf("the interval from %v to %v leaves the axis %q, which is logarithmic", p.Lo, p.Hi, y.Name)
	}
	return nil
}

// hasInterval says whether a point has an interval to show.
func (p Point) hasInterval() bool { return p.Lo < p.Hi }

// intervals says whether a curve has any, crowded whether too many for bars, and joined
// whether its points are.
func (c Curve) intervals() bool { return slices.ContainsFunc(c.Points, Point.hasInterval) }

func (c Curve) crowded() bool { return len(c.Points) > mostBars && !c.Scattered }

func (c Curve) joined() bool { return len(c.Points) > 1 && len(c.Formula) == 0 && !c.Scattered }

// band fills the intervals of a crowded curve.
func (c Curve) band(l curveStyle) layer {
	return func(canvas draw.Canvas, f *figure) {
		if !c.crowded() || !c.intervals() {
			return
		}
		var around []vg.Point
		for _, v := range c.Points {
			around = append(around, f.point(canvas, XY{v.X, v.Hi}))
		}
		for _, v := range slices.Backward(c.Points) {
			around = append(around, f.point(canvas, XY{v.X, v.Lo}))
		}
		canvas.FillPolygon(translucent(l.color, 0x38), around)
	}
}

// lines draws the formula, or joins the points.
func (c Curve) lines(l curveStyle) layer {
	return func(canvas draw.Canvas, f *figure) {
		style, corners := l.line(1.4), c.Formula
		if c.joined() {
			style.Width, corners = 0.9, nil
			for _, v := range c.Points {
				corners = append(corners, XY{v.X, v.Y})
			}
		}
		var line []vg.Point
		for _, v := range corners {
			line = append(line, f.point(canvas, v))
		}
		if len(line) > 1 {
			canvas.StrokeLines(style, line)
		}
	}
}

// capWidth is half the width of the cap of a bar.
const capWidth = 2.5

// bars draws the interval of each point.
func (c Curve) bars(l curveStyle) layer {
	return func(canvas draw.Canvas, f *figure) {
		if c.crowded() {
			return
		}
		for _, v := range c.Points {
			if v.hasInterval() {
				low, high := f.point(canvas, XY{v.X, v.Lo}), f.point(canvas, XY{v.X, v.Hi})
				drawBar(canvas, l.color, low, high)
			}
		}
	}
}

// drawBar draws an interval with its caps.
func drawBar(c draw.Canvas, hue color.Color, low, high vg.Point) {
	s := draw.LineStyle{Color: hue, Width: 0.9}
	c.StrokeLine2(s, low.X, low.Y, high.X, high.Y)
	for _, end := range []vg.Point{low, high} {
		c.StrokeLine2(s, end.X-capWidth, end.Y, end.X+capWidth, end.Y)
	}
}

const radius = vg.Length(2.5)

// glyph is how a point of the curve is drawn: smaller where there are many.
func (c Curve) glyph(l curveStyle) draw.GlyphStyle {
	g := draw.GlyphStyle{Color: l.color, Radius: radius, Shape: l.marker}
	if c.crowded() {
		g.Radius = radius / 2
	}
	return g
}

// markers draws the points.
func (c Curve) markers(l curveStyle) layer {
	return func(canvas draw.Canvas, f *figure) {
		for _, v := range c.Points {
			canvas.DrawGlyph(c.glyph(l), f.point(canvas, XY{v.X, v.Y}))
		}
	}
}

// entries is the legend: the curves, and then what their parts mean.
func (c Curves) entries() (list []entry) {
	var bars, bands, formulas bool
	for i, one := range c.Curves {
		l, e := curveStyleOf(i), entry{name: one.Name, end: one.end()}
		if len(one.Points) > 0 {
			e.thumbs = append(e.thumbs, dot(one.glyph(l)))
		}
		if len(one.Formula) > 0 || one.joined() {
			e.thumbs = append(e.thumbs, sample(l.line(1.2)))
		}
		list = append(list, e)
		bars = bars || one.intervals() && !one.crowded()
		bands = bands || one.intervals() && one.crowded()
		formulas = formulas || len(one.Formula) > 0 && len(one.Points) > 0
	}
	if bars {
		list = append(list, entry{name: cmp.Or(c.Interval, "interval"), key: true, thumbs: []thumb{barSample}})
	}
	if bands {
		list = append(list, entry{name: cmp.Or(c.Interval, "interval"), key: true, thumbs: []thumb{bandSample}})
	}
	if formulas {
		list = append(list, entry{name: cmp.Or(c.Formula, "formula"), key: true, thumbs: []thumb{sample(draw.LineStyle{Color: faint, Width: 1.4})}})
	}
	return list
}

// end is where the curve is at its right; nil: it is nowhere.
func (c Curve) end() *XY {
	if c.Scattered {
		return nil
	}
	corners := slices.Clone(c.Formula)
	for _, p := range c.Points {
		corners = append(corners, XY{p.X, p.Y})
	}
	if len(corners) == 0 {
		return nil
	}
	last := slices.MaxFunc(corners, func(a, b XY) int { return cmp.Compare(a.X, b.X) })
	return &last
}

var barSample = thumb(func(c *draw.Canvas) {
	low, high := c.Center(), c.Center()
	low.Y, high.Y = low.Y-5, high.Y+5
	drawBar(*c, faint, low, high)
})

var bandSample = patch(func(c *draw.Canvas, corners []vg.Point) { c.FillPolygon(translucent(faint, 0x58), corners) })

const (
	// minGap is how far from each other curves have to end, for their names to stand
	// there, and shift how far from there a name may be.
	minGap   = vg.Length(3)
	maxShift = 1.5 * entryHeight

	besideGap = vg.Length(16) // between the data and the names, for thin lines from the one to the other
)

// splitLegend splits the legend in what stands right of the data, each curve's name where it
// ends, and what stands below. Either all curves have their names splitLegend them, or none:
// that is so where two end at the same place, or one far from the edge, or many close
// together, or where names are long.
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
	// What is above and below the data leaves them this, at least.
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

// drawNamesBesideCurves writes the entries where their curves end.
func (f *figure) drawNamesBesideCurves(data draw.Canvas, entries []entry) {
	ends, names := f.ends(data, entries)
	for i, e := range entries {
		from := vg.Point{X: data.X(f.x.norm(e.end.X)), Y: ends[i]}
		to := vg.Point{X: data.Max.X + besideGap - 2, Y: names[i]}
		data.StrokeLines(draw.LineStyle{Color: faint, Width: 0.5}, []vg.Point{from, to})
		e.draw(data, vg.Point{X: data.Max.X + besideGap, Y: names[i] - entryHeight/2})
	}
}
