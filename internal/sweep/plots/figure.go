package plots

import (
	"fmt"
	"image/color"
	"math"

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
)

// pixel is the length of a pixel. A point is a 72nd of an inch.
const pixel = vg.Length(72.0 / 96)

func pixels(n float64) vg.Length { return vg.Length(n) * pixel }

const (
	border      = vg.Length(12)              // around everything
	gap         = vg.Length(8)               // between title, data and legend
	besideAxis  = vg.Length(labelSize * 1.7) // for its label
	minDataSize = vg.Length(150)             // of the data, in each direction
)

// figure is a validated chart, ready to be drawn: data in a frame, with texts around it.
type figure struct {
	title   string
	formula string // in words; empty: none
	x, y    scale
	layers  []layer // the first is the lowest
	marks   []Mark
	legend  []entry
	bar     *bar // of the colours; nil: none
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

// draw draws the figure onto a canvas.
func (f *figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Path())
	c = draw.Crop(c, border, -border, border, -border)
	c = f.drawTitle(c)
	right, below := f.splitLegend(c)
	c = drawLegend(c, below)
	c.Max.X -= rightWidth(right)
	if f.bar != nil {
		c = draw.Crop(c, 0, -f.bar.width(), 0, 0)
	}
	c = draw.Crop(c, besideAxis, 0, besideAxis, 0)
	labels, rows := placeMarkLabels(f.marks, f.x, f.inside(c))
	c.Max.Y -= vg.Length(rows) * markHeight
	data := f.inside(c) // as wide as before
	if data.Max.Y-data.Min.Y < minDataSize || data.Max.X-data.Min.X < minDataSize {
		return fmt.Errorf("title, legend and labels leave no room for the data: too many entries (%d) or marks (%d), or too long texts", len(f.legend), len(f.marks))
	}
	f.drawAxes(data)
	f.drawLines(data)
	for _, l := range f.layers {
		l(data, f)
	}
	frame(data)
	drawMarkLabels(labels, data)
	f.drawLabels(data, c)
	f.drawNamesBesideCurves(data, right)
	if f.bar != nil {
		f.bar.draw(data)
	}
	return nil
}

// drawTitle draws the title and returns the rest of the canvas.
func (f *figure) drawTitle(c draw.Canvas) draw.Canvas {
	if f.title == "" {
		return c
	}
	s := textStyle(titleSize)
	for _, line := range wrap(s, f.title, c.Max.X-c.Min.X) {
		c.Max.Y -= titleSize * 1.25
		drawText(c, s, c.Min.X, c.Max.Y+0.25*titleSize, 0, line)
	}
	c.Max.Y -= gap
	return c
}

// drawLabels draws the titles of the axes.
func (f *figure) drawLabels(data, c draw.Canvas) {
	style := textStyle(labelSize)
	drawText(c, style, data.Center().X, c.Min.Y-besideAxis+3, draw.XCenter, fitted(style, f.x.label(), data.Max.X-data.Min.X))
	style = aligned(style, draw.XCenter, draw.YTop)
	style.Rotation = math.Pi / 2
	c.FillText(style, vg.Point{X: c.Min.X - besideAxis, Y: data.Center().Y}, fitted(textStyle(labelSize), f.y.label(), data.Max.Y-data.Min.Y+besideAxis))
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
