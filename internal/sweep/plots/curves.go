package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curves are measured points with their intervals, curve by curve, and formulas.
type Curves struct {
	Title  string
	X, Y   Axis
	Curves []Curve
	Marks  []Mark

	// Interval is the legend's name of bars or bands; empty: "interval". Formula states the
	// formula of the lines there; it may be empty.
	Interval, Formula string

	// RunsOf says what the numbers of runs are of; empty: "per point".
	RunsOf string
}

// Curve is a series of points, a formula for them, or both.
type Curve struct {
	Name   string
	Points []Point
	Runs   []int // of each point; nil: unknown

	// Formula has the corners of the formula's line. Without it, thin lines join the points
	// unless they are Scattered.
	Formula   []XY
	Scattered bool
}

// Point is a value Y measured at X, with its interval: Lo ≤ Y ≤ Hi. If Lo and Hi are equal, no
// interval is drawn.
type Point struct{ X, Y, Lo, Hi float64 }

// mostBars is up to how many points a curve has bars. More are drawn as a band.
const mostBars = 50

func (c Curves) figure(s Style) (*figure, error) {
	xs, ys, err := c.values()
	if err != nil {
		return nil, err
	}
	f := &figure{title: c.Title, formula: c.Formula, marks: c.Marks}
	if f.x, err = c.X.paddedScale(xs); err != nil {
		return nil, err
	}
	if f.y, err = c.Y.paddedScale(ys); err != nil {
		return nil, err
	}
	// Bands below all lines, and these below all points, so that none hides another's.
	apart := c.apart()
	f.shifted = apart.most
	var runs []int
	for _, one := range c.Curves {
		runs = append(runs, one.Runs...)
	}
	f.runs = runsText(runs, cmp.Or(c.RunsOf, perPoint))
	for _, draws := range []func(Curve, curveStyle) layer{Curve.band, Curve.lines, Curve.bars, Curve.markers} {
		for i, one := range c.Curves {
			style := s.curve(i)
			style.shift = apart.of(i)
			f.layers = append(f.layers, draws(one, style))
		}
	}
	f.legend = c.entries(s)
	return f, nil
}

// values validates all points and returns their positions.
func (c Curves) values() (xs, ys []float64, err error) {
	for _, one := range c.Curves {
		if n := len(one.Runs); n > 0 && n != len(one.Points) {
			return nil, nil, fmt.Errorf("curve %q: %d numbers of runs for %d points", one.Name, n, len(one.Points))
		}
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

// rounding is the relative error by which an end of an interval may be on the wrong side of
// its point, as Wilson's is if nothing was found.
const rounding = 1e-9

func (p Point) check(x, y Axis) error {
	if err := (XY{p.X, p.Y}).check(x, y); err != nil {
		return err
	}
	slack := rounding * max(math.Abs(p.Lo), math.Abs(p.Y), math.Abs(p.Hi))
	if !(p.Lo <= p.Y+slack && p.Y <= p.Hi+slack) || math.IsInf(p.Lo, 0) || math.IsInf(p.Hi, 0) {
		return fmt.Errorf("the interval from %v to %v does not contain %v", p.Lo, p.Hi, p.Y)
	}
	if y.Log && p.Lo < 0 {
		return fmt.Errorf("the interval from %v to %v leaves the axis %q, which is logarithmic", p.Lo, p.Hi, y.Name)
	}
	return nil
}

// hasInterval reports whether a point has an interval to draw.
func (p Point) hasInterval() bool { return p.Lo < p.Hi }

// intervals reports whether a curve has any, crowded whether it has too many for bars, and
// joined whether its points are joined.
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
			at := f.point(canvas, v)
			if c.joined() {
				at.X += l.shift(canvas, f, v.X)
			}
			line = append(line, at)
		}
		if len(line) > 1 {
			canvas.StrokeLines(style, line)
		}
	}
}

// capWidth is half the width of a bar's cap.
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
				aside := l.shift(canvas, f, v.X)
				low.X, high.X = low.X+aside, high.X+aside
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

// glyph returns the style of the curve's points, which are smaller if there are many.
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
			at := f.point(canvas, XY{v.X, v.Y})
			at.X += l.shift(canvas, f, v.X)
			canvas.DrawGlyph(c.glyph(l), at)
		}
	}
}

// entries returns the legend: the curves, then their parts.
func (c Curves) entries(s Style) (list []entry) {
	var bars, bands, formulas, bare bool
	for i, one := range c.Curves {
		l, e := s.curve(i), entry{name: one.Name, end: one.end()}
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
		bare = bare || len(one.Formula) > 0 && len(one.Points) == 0
	}
	if bars {
		list = append(list, entry{name: cmp.Or(c.Interval, "interval"), key: true, thumbs: []thumb{barSample}})
	}
	if bands {
		list = append(list, entry{name: cmp.Or(c.Interval, "interval"), key: true, thumbs: []thumb{bandSample}})
	}
	if formulas {
		list = append(list, entry{name: c.formulaName(bare), key: true})
	}
	return list
}

// formulaName says in the legend what the lines and symbols of curves are. bare: other lines have no
// symbols, and are something else.
func (c Curves) formulaName(bare bool) string {
	lines := "lines"
	if bare {
		lines = "lines with symbols"
	}
	return strings.TrimSuffix("symbols: measured; "+lines+" by formula: "+c.Formula, ": ")
}

// end returns the right end of the curve; nil: it has none.
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
