package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// tick is a place on an axis. One without a label is short.
type tick struct {
	value float64
	label string
}

const (
	tickLength = vg.Length(4)
	tickGap    = vg.Length(3) // between a tick of the y axis and its label
)

var axisLine = draw.LineStyle{Color: ink, Width: 0.75}

// inside is what the labels of the ticks leave of a canvas for the data. They stand left of
// the data and below; those at the ends may reach beyond the data, but not beyond the canvas.
func (f *figure) inside(c draw.Canvas) draw.Canvas {
	style, xs, ys := letters(textSize), f.x.ticks(), f.y.ticks()
	edge, widest := c.Max, vg.Length(0)
	for _, t := range ys {
		widest = max(widest, style.Width(t.label))
	}
	c.Min.X += widest + tickGap + tickLength
	c.Min.Y += textSize*1.2 + tickLength
	for _, t := range xs {
		c.Max.X = longest(c.Min.X, c.Max.X, edge.X-style.Width(t.label)/2, f.x.norm(t.value))
	}
	for _, t := range ys {
		if t.label != "" {
			c.Max.Y = longest(c.Min.Y, c.Max.Y, edge.Y-textSize/2, f.y.norm(t.value))
		}
	}
	return c
}

// longest is where an axis from low to high may end at most, for the place at a part of its
// length to lie no further than a limit.
func longest(low, high, limit vg.Length, part float64) vg.Length {
	if low+(high-low)*vg.Length(part) <= limit {
		return high
	}
	return low + (limit-low)/vg.Length(part)
}

// drawAxes draws the ticks with their labels, and a line of the grid for each label.
func (f *figure) drawAxes(data draw.Canvas) {
	style, grid := letters(textSize), draw.LineStyle{Color: rule, Width: 0.5}
	for _, t := range f.x.ticks() {
		x, length := data.X(f.x.norm(t.value)), tickLength/2
		if t.label != "" {
			length = tickLength
			data.StrokeLine2(grid, x, data.Min.Y, x, data.Max.Y)
			write(data, style, x, data.Min.Y-tickLength-textSize, draw.XCenter, t.label)
		}
		data.StrokeLine2(axisLine, x, data.Min.Y-length, x, data.Min.Y)
	}
	for _, t := range f.y.ticks() {
		y, length := data.Y(f.y.norm(t.value)), tickLength/2
		if t.label != "" {
			length = tickLength
			data.StrokeLine2(grid, data.Min.X, y, data.Max.X, y)
			write(data, style, data.Min.X-tickLength-tickGap, y-0.35*textSize, draw.XRight, t.label)
		}
		data.StrokeLine2(axisLine, data.Min.X-length, y, data.Min.X, y)
	}
}

// places are functions from values to where they are on the canvas.
func (f *figure) places(c draw.Canvas) (x, y func(float64) vg.Length) {
	x = func(v float64) vg.Length { return c.X(f.x.norm(v)) }
	y = func(v float64) vg.Length { return c.Y(f.y.norm(v)) }
	return x, y
}

// at is where a value is on the canvas; what lies outside, as the low end of an interval
// on a logarithmic axis, is at the edge.
func (f *figure) at(c draw.Canvas, v XY) vg.Point {
	return vg.Point{X: c.X(f.x.within(v.X)), Y: c.Y(f.y.within(v.Y))}
}
