package plots

import (
	"cmp"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is one place of the legend: what is drawn so is called name. A key tells what all
// curves have in common. End is where the curve ends, for its name to stand there; nil: it
// has none.
type entry struct {
	name   string
	key    bool
	thumbs []thumb
	end    *XY
}

const (
	thumbWidth  = vg.Length(28)
	entryHeight = vg.Length(textSize * 1.45)
	entryGap    = vg.Length(24) // wide enough for letters that are a little wider, where the font is missing
)

// drawLegend writes the entries in columns below everything else, row by row, the keys
// in rows of their own, and returns what is left above them.
func drawLegend(c draw.Canvas, entries []entry) draw.Canvas {
	if len(entries) == 0 {
		return c
	}
	var widest vg.Length
	for _, e := range entries {
		widest = max(widest, e.width())
	}
	columns := max(1, int((c.Max.X-c.Min.X+entryGap)/widest))
	var rows [][]entry
	for i, e := range entries {
		if i == 0 || len(rows[len(rows)-1]) == columns || e.key != entries[i-1].key {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
	}
	top := c.Min.Y + vg.Length(len(rows))*entryHeight
	for j, row := range rows {
		for i, e := range row {
			e.draw(c, vg.Point{X: c.Min.X + vg.Length(i)*widest, Y: top - vg.Length(j+1)*entryHeight})
		}
	}
	c.Min.Y = top + gap
	return c
}

// width is that of the entry with the gap to the next.
func (e entry) width() vg.Length {
	return thumbWidth + 5 + textStyle(textSize).Width(e.name) + entryGap
}

// draw draws the entry, given its lower left corner.
func (e entry) draw(c draw.Canvas, at vg.Point) {
	small := c
	small.Rectangle = vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: thumbWidth, Y: entryHeight})}
	for _, t := range e.thumbs {
		t(&small)
	}
	drawText(c, textStyle(textSize), small.Max.X+5, small.Center().Y-0.35*textSize, draw.XLeft, e.name)
}

// thumb draws a picture in the legend.
type thumb func(*draw.Canvas)

// sample draws a line of a style.
func sample(s draw.LineStyle) thumb {
	return func(c *draw.Canvas) { c.StrokeLine2(s, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y) }
}

// dot draws a marker.
func dot(s draw.GlyphStyle) thumb {
	return func(c *draw.Canvas) { c.DrawGlyph(s, c.Center()) }
}

// patch fills an area as cells of a map are filled.
func patch(fill func(c *draw.Canvas, corners []vg.Point)) thumb {
	return func(c *draw.Canvas) {
		at := c.Center()
		const w, h = 9, 4.5
		fill(c, []vg.Point{{X: at.X - w, Y: at.Y - h}, {X: at.X + w, Y: at.Y - h}, {X: at.X + w, Y: at.Y + h}, {X: at.X - w, Y: at.Y + h}})
	}
}

// wrap breaks a text between its words into lines that are no wider than width, unless
// one word is.
func wrap(s text.Style, words string, width vg.Length) (lines []string) {
	for _, word := range strings.Fields(words) {
		last := len(lines) - 1
		if last >= 0 && s.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// Mark is a vertical line at X, with its label above the data.
type Mark struct {
	X     float64
	Label string
}

const markHeight = vg.Length(textSize * 1.4)

// markLabel is a label that hangs on the line of its mark, in a row above the data.
type markLabel struct {
	label        string
	at, from, to vg.Length // the line, and the ends of the text
	row          int       // the lowest is 0
}

// overlaps says whether two labels in one row touch, or one is crossed by the other's line.
func (f markLabel) overlaps(o markLabel) bool {
	crossed := func(f, line markLabel) bool { return f.row <= line.row && f.from < line.at && line.at < f.to }
	touch := f.row == o.row && f.from < o.to+textSize && o.from < f.to+textSize
	return touch || crossed(f, o) || crossed(o, f)
}

// placeMarkLabels gives every label the lowest row in which it meets no other. Labels hang to the
// right of their lines, and are placed from the right: then none is in the way of a line
// that is still to come. Those with no room on the right hang to the left, and are placed
// from the left.
func placeMarkLabels(marks []Mark, x scale, data draw.Canvas) (flags []markLabel, rows int) {
	var left []markLabel
	for _, m := range marks {
		width := textStyle(textSize).Width(m.Label)
		at := data.X(x.norm(m.X))
		if at+3+width <= data.Max.X {
			flags = append(flags, markLabel{m.Label, at, at + 3, at + 3 + width, 0})
		} else {
			left = append(left, markLabel{m.Label, at, at - 3 - width, at - 3, 0})
		}
	}
	slices.SortStableFunc(flags, func(a, b markLabel) int { return cmp.Compare(b.at, a.at) })
	slices.SortStableFunc(left, func(a, b markLabel) int { return cmp.Compare(a.at, b.at) })
	flags = append(flags, left...)
	for i := range flags {
		// A line may have to cross a label after all: no row is then free of that, and it
		// is enough to be above all others.
		for flags[i].row < rows && slices.ContainsFunc(flags[:i], flags[i].overlaps) {
			flags[i].row++
		}
		rows = max(rows, flags[i].row+1)
	}
	return flags, rows
}

var markLine = draw.LineStyle{Color: faint, Width: 1, Dashes: []vg.Length{4, 2}}

// drawLines draws those of the marks, below the data.
func (f *figure) drawLines(data draw.Canvas) {
	for _, m := range f.marks {
		x := data.X(f.x.norm(m.X))
		data.StrokeLine2(markLine, x, data.Min.Y, x, data.Max.Y)
	}
}

// drawFlags draws what is above the data: the lines, and then the labels, which are on top
// of what lines cross them.
func drawFlags(flags []markLabel, data draw.Canvas) {
	for _, f := range flags {
		data.StrokeLine2(markLine, f.at, data.Max.Y, f.at, f.base(data)+textSize)
	}
	for _, f := range flags {
		low, high := f.base(data)+1, f.base(data)+textSize+1
		data.FillPolygon(color.White, []vg.Point{{X: f.from, Y: low}, {X: f.to, Y: low}, {X: f.to, Y: high}, {X: f.from, Y: high}})
		drawText(data, textStyle(textSize), f.from, f.base(data)+4, draw.XLeft, f.label)
	}
}

// base is the lower end of the flag's row.
func (f markLabel) base(data draw.Canvas) vg.Length { return data.Max.Y + vg.Length(f.row)*markHeight }
