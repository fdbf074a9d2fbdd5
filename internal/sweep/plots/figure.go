package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Width and Height are the size of every picture in pixels, at 96 per inch: of the PNG,
// and of an SVG on a page.
const (
	Width  = 800
	Height = 560
)

// A picture on a page is smaller, so that its texts are legible on a phone, and has no title: the
// page has it as text.
const (
	pageWidth  = 480
	pageHeight = 460
	pageStep   = 60 // by which a picture with a long legend is higher
)

// pixel is the length of a pixel. A point is a 72nd of an inch.
const pixel = vg.Length(72.0 / 96)

func pixels(n float64) vg.Length { return vg.Length(n) * pixel }

const (
	border      = vg.Length(12)              // around everything
	gap         = vg.Length(8)               // between title, data and legend
	besideAxis  = vg.Length(labelSize * 1.7) // for its label
	minDataSize = vg.Length(130)             // of the data, in each direction
)

// figure is a validated chart, ready to be drawn: data in a frame, with texts around it.
type figure struct {
	title   string
	formula string // in words; empty: none
	x, y    scale
	layers  []layer // the first is the lowest
	marks   []Mark
	legend  []entry
	bar     *bar   // of the colours; nil: none
	runs    string // how many a point has; empty: unknown

	// shifted returns by how much points stand beside their x at most; nil: none does.
	shifted func(data draw.Canvas, f *figure) vg.Length
}

// check returns an error if a text cannot be drawn.
func (f *figure) check() error {
	texts := []string{f.title, f.x.label(), f.y.label()}
	for _, m := range f.marks {
		texts = append(texts, m.Label)
	}
	for _, e := range f.legend {
		texts = append(texts, e.name)
	}
	if f.bar != nil {
		texts = append(texts, f.bar.label)
	}
	for _, t := range texts {
		if err := printable(t); err != nil {
			return err
		}
	}
	return nil
}

// layout is where the parts of a figure are on a canvas.
type layout struct {
	title, foot  []string // lines
	beside       []string // the label of the y axis
	right        []entry  // names beside the curves
	legend       legend
	marks        []markLabel
	inner, lower draw.Canvas // without the border; without the title and the foot
	axes, data   draw.Canvas // the data with and without the labels of the ticks
}

const footHeight = vg.Length(textSize * 1.3)

// layOut divides a canvas.
func (f *figure) layOut(c draw.Canvas, foot []string) layout {
	c = draw.Crop(c, border, -border, border, -border)
	l := layout{inner: c, foot: foot, title: wrap(textStyle(titleSize), f.title, c.Max.X-c.Min.X)}
	if n := len(l.title); n > 0 {
		c.Max.Y -= vg.Length(n)*titleSize*1.25 + gap
	}
	if n := len(foot); n > 0 {
		c.Min.Y += vg.Length(n)*footHeight + gap/2
	}
	l.lower = c
	var below []entry
	l.right, below = f.splitLegend(c)
	l.legend = legendOf(below, c.Max.X-c.Min.X)
	c.Min.Y += l.legend.height()
	c.Max.X -= rightWidth(l.right)
	if f.bar != nil {
		c = draw.Crop(c, 0, -f.bar.width(), 0, 0)
	}
	l.beside = f.linesBeside(c)
	c = draw.Crop(c, besideAxis*vg.Length(len(l.beside)), 0, besideAxis, 0)
	var rows int
	l.marks, rows = placeMarkLabels(f.marks, f.x, f.inside(c))
	c.Max.Y -= vg.Length(rows) * markHeight
	l.axes, l.data = c, f.inside(c) // as wide as before
	return l
}

// passes is how often a figure is laid out at most until its foot says what is drawn: the foot takes
// room from the data, and with less room more points are moved.
const passes = 4

// settle lays the figure out with its foot.
func (f *figure) settle(c draw.Canvas) layout {
	l := f.layOut(c, nil)
	for range passes {
		foot := wrap(textStyle(textSize), f.foot(l.data), l.inner.Max.X-l.inner.Min.X)
		if slices.Equal(foot, l.foot) {
			break
		}
		l = f.layOut(c, foot)
	}
	return l
}

// draw draws the figure onto a canvas.
func (f *figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Path())
	l := f.settle(c)
	data := l.data
	if data.Max.Y-data.Min.Y < minDataSize || data.Max.X-data.Min.X < minDataSize {
		return fmt.Errorf("title, legend and labels leave no room for the data: too many entries (%d) or marks (%d), or too long texts", len(f.legend), len(f.marks))
	}
	l.drawTexts()
	l.legend.draw(l.lower)
	f.drawAxes(data)
	f.drawLines(data)
	for _, l := range f.layers {
		l(data, f)
	}
	frame(data)
	drawMarkLabels(l.marks, data)
	f.drawLabels(data, l)
	f.drawNamesBesideCurves(data, l.right)
	if f.bar != nil {
		f.bar.draw(data)
	}
	return nil
}

// drawTexts draws the title and the foot.
func (l layout) drawTexts() {
	c := l.inner
	for i, line := range l.title {
		drawText(c, textStyle(titleSize), c.Min.X, c.Max.Y-(vg.Length(i+1)*1.25-0.25)*titleSize, 0, line)
	}
	for i, line := range l.foot {
		drawText(c, textStyle(textSize), c.Min.X, c.Min.Y+vg.Length(len(l.foot)-1-i)*footHeight, 0, line)
	}
}

// linesBeside breaks the label of the y axis, which may be as long as the axis and the room for the
// label of the other.
func (f *figure) linesBeside(c draw.Canvas) []string {
	if lines := wrap(textStyle(labelSize), f.y.label(), c.Max.Y-c.Min.Y-2*besideAxis); len(lines) > 0 {
		return lines
	}
	return []string{""}
}

// drawLabels draws the titles of the axes.
func (f *figure) drawLabels(data draw.Canvas, l layout) {
	style, c := textStyle(labelSize), l.axes
	below := fitted(style, f.x.label(), l.inner.Max.X-l.inner.Min.X)
	half := style.Width(below) / 2
	drawText(c, style, min(max(data.Center().X, l.inner.Min.X+half), l.inner.Max.X-half), c.Min.Y-besideAxis+3, draw.XCenter, below)
	style = aligned(style, draw.XCenter, draw.YTop)
	style.Rotation = math.Pi / 2
	for i, line := range l.beside {
		left := c.Min.X - besideAxis*vg.Length(len(l.beside)-i)
		c.FillText(style, vg.Point{X: left, Y: data.Center().Y}, fitted(textStyle(labelSize), line, data.Max.Y-data.Min.Y+besideAxis))
	}
}

func aligned(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// layer draws a part of the data.
type layer func(c draw.Canvas, f *figure)

// frame draws a box around what is on the canvas.
func frame(c draw.Canvas) {
	c.StrokeLines(axisLine, []vg.Point{
		c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}, c.Min,
	})
}
