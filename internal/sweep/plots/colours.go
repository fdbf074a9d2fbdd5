package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// viridis is every tenth of the colour map of that name (https://bids.github.io/colormap/),
// from its light end: little ink for little.
var viridis = []color.NRGBA{
	{R: 0xfd, G: 0xe7, B: 0x25, A: 0xff},
	{R: 0xbb, G: 0xdf, B: 0x27, A: 0xff},
	{R: 0x7a, G: 0xd1, B: 0x51, A: 0xff},
	{R: 0x43, G: 0xbf, B: 0x71, A: 0xff},
	{R: 0x22, G: 0xa8, B: 0x84, A: 0xff},
	{R: 0x21, G: 0x90, B: 0x8c, A: 0xff},
	{R: 0x2a, G: 0x78, B: 0x8e, A: 0xff},
	{R: 0x35, G: 0x60, B: 0x8d, A: 0xff},
	{R: 0x41, G: 0x44, B: 0x87, A: 0xff},
	{R: 0x48, G: 0x25, B: 0x76, A: 0xff},
	{R: 0x44, G: 0x01, B: 0x54, A: 0xff},
}

// heat is the colour of a value from 0 to 1. Zero is white: that nothing was found is
// what a reader looks for, and differs from little.
func heat(v float64) color.NRGBA {
	if v == 0 {
		return color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	}
	at := v * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	part := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	a, b := viridis[i], viridis[i+1]
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}

// bar is the colours with their values, right of the data.
type bar struct{ label string }

const (
	barGap   = vg.Length(12)
	barWidth = vg.Length(14)
	bands    = 100
)

func (b bar) width() vg.Length { return barGap + barWidth + 4 + 3*textSize + labelSize }

// draw draws the bar beside the data, as high as they are.
func (b bar) draw(data draw.Canvas) {
	c := data
	c.Min.X = data.Max.X + barGap
	c.Max.X = c.Min.X + barWidth
	for i := range bands {
		low, high := c.Y(float64(i)/bands), c.Y(float64(i+1)/bands)
		cell(c, (float64(i)+0.5)/bands, vg.Point{X: c.Min.X, Y: low}, vg.Point{X: c.Max.X, Y: high})
	}
	frame(c)
	for i := range 6 {
		v := float64(i) / 5
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.75}, c.Max.X, c.Y(v), c.Max.X+3, c.Y(v))
		write(c, letters(textSize), c.Max.X+6, c.Y(v)-0.35*textSize, draw.XLeft, number(v, 0.2))
	}
	s := aligned(letters(labelSize), draw.XCenter, draw.YTop)
	s.Rotation = math.Pi / 2
	c.FillText(s, vg.Point{X: c.Max.X + 6 + 2*textSize, Y: c.Center().Y}, b.label)
}
