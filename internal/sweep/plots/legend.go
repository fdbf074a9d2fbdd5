package plots

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is a legend entry. A key describes something that all curves have in common. End is
// the right end of the curve, where its name may be drawn; nil: none.
type entry struct {
	name   string
	more   []string // further lines of a long name
	key    bool
	thumbs []thumb
	end    *XY
}

const (
	thumbWidth  = vg.Length(28)
	entryHeight = vg.Length(textSize * 1.45)
	entryGap    = vg.Length(24) // wide enough for slightly wider letters, if the font is missing
)

// legend is the entries in columns, row by row, with the keys in rows of their own.
type legend struct {
	rows   [][]entry
	widest map[bool]vg.Length // of the keys, and of the others
}

// legendOf arranges entries.
func legendOf(entries []entry, width vg.Length) legend {
	l := legend{widest: map[bool]vg.Length{}}
	entries = slices.Clone(entries)
	for i := range entries {
		e := &entries[i]
		if lines := wrap(textStyle(textSize), e.name, width-e.indent()); len(lines) > 1 {
			e.name, e.more = lines[0], lines[1:]
		} else {
			e.name = fitted(textStyle(textSize), e.name, width-e.indent())
		}
		l.widest[e.key] = max(l.widest[e.key], e.width())
	}
	columns := func(key bool) int { return max(1, int((width+entryGap)/l.widest[key])) }
	for i, e := range entries {
		if i == 0 || len(l.rows[len(l.rows)-1]) == columns(e.key) || e.key != entries[i-1].key {
			l.rows = append(l.rows, nil)
		}
		l.rows[len(l.rows)-1] = append(l.rows[len(l.rows)-1], e)
	}
	return l
}

// lines returns the number of lines of a row.
func lines(row []entry) vg.Length {
	most := 0
	for _, e := range row {
		most = max(most, 1+len(e.more))
	}
	return vg.Length(most)
}

// height is the height of the legend with the gap above it.
func (l legend) height() vg.Length {
	if len(l.rows) == 0 {
		return 0
	}
	height := gap
	for _, row := range l.rows {
		height += lines(row) * entryHeight
	}
	return height
}

// draw draws the legend at the bottom of a canvas.
func (l legend) draw(c draw.Canvas) {
	y := c.Min.Y + l.height() - gap
	for _, row := range l.rows {
		for i, e := range row {
			e.draw(c, vg.Point{X: c.Min.X + vg.Length(i)*l.widest[e.key], Y: y - entryHeight})
		}
		y -= lines(row) * entryHeight
	}
}

// width is the width of the entry including the gap to the next.
func (e entry) width() vg.Length {
	return e.indent() + textStyle(textSize).Width(e.name) + entryGap
}

// indent is the room left of the name: for a sample, if there is one.
func (e entry) indent() vg.Length {
	if len(e.thumbs) == 0 {
		return 0
	}
	return thumbWidth + 5
}

// draw draws the entry at its lower left corner.
func (e entry) draw(c draw.Canvas, at vg.Point) {
	small := c
	small.Rectangle = vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: thumbWidth, Y: entryHeight})}
	for _, t := range e.thumbs {
		t(&small)
	}
	for i, line := range append([]string{e.name}, e.more...) {
		drawText(c, textStyle(textSize), at.X+e.indent(), small.Center().Y-0.35*textSize-vg.Length(i)*entryHeight, draw.XLeft, line)
	}
}

// thumb draws a sample in the legend.
type thumb func(*draw.Canvas)

// sample draws a line of a style.
func sample(s draw.LineStyle) thumb {
	return func(c *draw.Canvas) { c.StrokeLine2(s, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y) }
}

// dot draws a marker.
func dot(s draw.GlyphStyle) thumb {
	return func(c *draw.Canvas) { c.DrawGlyph(s, c.Center()) }
}

// patch draws an area like a cell of a map.
func patch(fill func(c *draw.Canvas, corners []vg.Point)) thumb {
	return func(c *draw.Canvas) {
		at := c.Center()
		const w, h = 9, 4.5
		fill(c, []vg.Point{{X: at.X - w, Y: at.Y - h}, {X: at.X + w, Y: at.Y - h}, {X: at.X + w, Y: at.Y + h}, {X: at.X - w, Y: at.Y + h}})
	}
}

// wrap breaks a text between words into lines no wider than width. A word that is wider is cut.
func wrap(s text.Style, words string, width vg.Length) (lines []string) {
	for _, word := range strings.Fields(words) {
		word = fitted(s, word, width)
		last := len(lines) - 1
		if last >= 0 && s.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
