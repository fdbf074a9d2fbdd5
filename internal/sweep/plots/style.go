package plots

import (
	"image/color"
	"math"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	ink       = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff} // text and axes
	faint     = color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff} // secondary texts and lines
	gridColor = color.NRGBA{R: 0xe6, G: 0xe6, B: 0xe6, A: 0xff} // lines of the grid
)

// Style is the colours and the width of pictures. Curves differ in marker and dashes in every style.
type Style struct {
	column   vg.Length // the width on paper; 0: for a screen
	untitled bool      // the title is in the metadata alone

	hues []color.NRGBA // of curves
	heat []color.NRGBA // of the values of a map, from small to large

	best, recommended color.NRGBA // of settings
}

// Untitled returns the style for pictures without a title, for papers with captions.
func (s Style) Untitled() Style {
	s.untitled = true
	return s
}

var (
	// Screen has colours.
	Screen = Style{hues: hues, heat: viridis, best: hues[0], recommended: hues[1]}

	// Print has black and grey only, for papers that are printed without colour. Neighbouring
	// curves differ in tone, too.
	Print = Style{hues: tones, heat: greys, best: tones[0], recommended: tones[0]}
)

// hues are the colours of Okabe and Ito (https://jfly.uni-koeln.de/color/), without yellow,
// which is hard to see on white.
var hues = []color.NRGBA{
	{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
	{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
	{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // green
	{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // purple
	{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
	{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky blue
	{R: 0x00, G: 0x00, B: 0x00, A: 0xff},
}

// tones are black and a grey that a printer's raster leaves legible.
var tones = []color.NRGBA{
	{R: 0x00, G: 0x00, B: 0x00, A: 0xff},
	{R: 0x70, G: 0x70, B: 0x70, A: 0xff},
}

// greys go from a light grey, to be told from a white 0, to nearly black.
var greys = []color.NRGBA{
	{R: 0xe0, G: 0xe0, B: 0xe0, A: 0xff},
	{R: 0x20, G: 0x20, B: 0x20, A: 0xff},
}

// dashes distinguish lines without their colours. Only the first, which is drawn below the
// others, is solid, so that all of several lines on top of each other are visible.
var dashes = [][]vg.Length{nil, {6, 2.5}, {1.5, 2}, {6, 2, 1.5, 2}, {10, 3}, {3, 3}, {8, 2, 1.5, 2, 1.5, 2}, {1, 4}}

// marker is the outline of a polygon. Unlike a filled one it does not hide what is below.
type marker struct {
	corners int     // 0: a circle
	turn    float64 // angle of the first corner, in radians, counter-clockwise from the right
	swell   float64 // relative size, to look as large as a circle
}

var markers = []marker{
	{corners: 0, swell: 1},
	{corners: 4, turn: math.Pi / 4, swell: 1.25},
	{corners: 3, turn: math.Pi / 2, swell: 1.35},
	{corners: 4, turn: 0, swell: 1.3},
	{corners: 3, turn: -math.Pi / 2, swell: 1.35},
	{corners: 5, turn: math.Pi / 2, swell: 1.15},
	{corners: 6, turn: 0, swell: 1.1},
	{corners: 3, turn: 0, swell: 1.35},
}

// outline returns the path of the marker.
func (m marker) outline(at vg.Point, radius vg.Length) vg.Path {
	r := radius * vg.Length(m.swell)
	var p vg.Path
	if m.corners == 0 {
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
		return p
	}
	for i := range m.corners {
		sin, cos := math.Sincos(m.turn + 2*math.Pi*float64(i)/float64(m.corners))
		corner := vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}

// DrawGlyph implements [draw.GlyphDrawer].
func (m marker) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 1.1})
	c.Stroke(m.outline(at, s.Radius))
}

// filled is a filled marker.
type filled struct{ marker }

func (m filled) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetColor(s.Color)
	c.Fill(m.outline(at, s.Radius))
}

// curveStyle is the style of one curve.
type curveStyle struct {
	color  color.NRGBA
	marker marker
	dashes []vg.Length

	// shift is by how much a point at x stands beside its place.
	shift func(c draw.Canvas, f *figure, x float64) vg.Length
}

// curve returns the style of the i-th curve.
func (s Style) curve(i int) curveStyle {
	return curveStyle{s.hues[i%len(s.hues)], markers[i%len(markers)], dashes[(i+i/len(markers))%len(dashes)], noShift}
}

// line returns the style of the curve's lines.
func (l curveStyle) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: width, Dashes: l.dashes}
}

// translucent returns a colour for an area behind the data.
func translucent(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

const (
	titleSize = 13
	labelSize = 11
	textSize  = 10
)

// typeface is the font of all pictures. The library's own collection has twelve and would link
// all of them.
var typeface = font.Font{Typeface: "Liberation", Variant: "Sans"}

var fonts = sync.OnceValue(func() *font.Cache {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic(err) // it is compiled in
	}
	return font.NewCache(font.Collection{{Font: typeface, Face: face}})
})

// textStyle returns the style of text of a size. It is positioned by its base line, since the
// library's bottom depends on the font.
func textStyle(size vg.Length) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.From(typeface, size),
		Handler: text.Plain{Fonts: fonts()},
	}
}

// drawText draws a line of text with its base line at y. align is 0 if x is its left end, -0.5
// its middle, -1 its right end.
func drawText(c draw.Canvas, s text.Style, x, y vg.Length, align text.XAlignment, line string) {
	s.XAlign = align
	y -= s.Font.Size - s.FontExtents().Ascent
	c.FillText(s, vg.Point{X: x, Y: y}, line)
}

// viridis is every tenth colour of the map of that name (https://bids.github.io/colormap/),
// from its light end: little ink for small values.
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

// heatColor returns the colour of a value from 0 to 1. 0 is white, to distinguish nothing from
// little.
func (s Style) heatColor(v float64) color.NRGBA {
	if v == 0 {
		return color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
	}
	at := v * float64(len(s.heat)-1)
	i := min(int(at), len(s.heat)-2)
	part := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	a, b := s.heat[i], s.heat[i+1]
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}

// bar is the scale of the colours, right of the data.
type bar struct {
	label string
	style Style
}

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
		b.style.cell(c, (float64(i)+0.5)/bands, vg.Point{X: c.Min.X, Y: low}, vg.Point{X: c.Max.X, Y: high})
	}
	frame(c)
	for i := range 6 {
		v := float64(i) / 5
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.75}, c.Max.X, c.Y(v), c.Max.X+3, c.Y(v))
		drawText(c, textStyle(textSize), c.Max.X+6, c.Y(v)-0.35*textSize, draw.XLeft, number(v, 0.2))
	}
	s := aligned(textStyle(labelSize), draw.XCenter, draw.YTop)
	s.Rotation = math.Pi / 2
	c.FillText(s, vg.Point{X: c.Max.X + 6 + 2*textSize, Y: c.Center().Y}, b.label)
}
