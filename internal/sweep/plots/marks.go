package plots

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mark is a vertical line at X, with its label above the data.
type Mark struct {
	X     float64
	Label string
}

const markHeight = vg.Length(textSize * 1.4)

// flag is a label that hangs on the line of its mark, in a row above the data.
type flag struct {
	label        string
	at, from, to vg.Length // the line, and the ends of the text
	row          int       // the lowest is 0
}

// meets says whether two labels in one row touch, or one is crossed by the other's line.
func (f flag) meets(o flag) bool {
	crossed := func(f, line flag) bool { return f.row <= line.row && f.from < line.at && line.at < f.to }
	touch := f.row == o.row && f.from < o.to+textSize && o.from < f.to+textSize
	return touch || crossed(f, o) || crossed(o, f)
}

// hoist gives every label the lowest row in which it meets no other. Labels hang to the
// right of their lines, and are placed from the right: then none is in the way of a line
// that is still to come. Those with no room on the right hang to the left, and are placed
// from the left.
func hoist(marks []Mark, x scale, data draw.Canvas) (flags []flag, rows int) {
	var left []flag
	for _, m := range marks {
		width := letters(textSize).Width(m.Label)
		at := data.X(x.norm(m.X))
		if at+3+width <= data.Max.X {
			flags = append(flags, flag{m.Label, at, at + 3, at + 3 + width, 0})
		} else {
			left = append(left, flag{m.Label, at, at - 3 - width, at - 3, 0})
		}
	}
	slices.SortStableFunc(flags, func(a, b flag) int { return cmp.Compare(b.at, a.at) })
	slices.SortStableFunc(left, func(a, b flag) int { return cmp.Compare(a.at, b.at) })
	flags = append(flags, left...)
	for i := range flags {
		// A line may have to cross a label after all: no row is then free of that, and it
		// is enough to be above all others.
		for flags[i].row < rows && slices.ContainsFunc(flags[:i], flags[i].meets) {
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
func drawFlags(flags []flag, data draw.Canvas) {
	for _, f := range flags {
		data.StrokeLine2(markLine, f.at, data.Max.Y, f.at, f.foot(data)+textSize)
	}
	for _, f := range flags {
		low, high := f.foot(data)+1, f.foot(data)+textSize+1
		data.FillPolygon(color.White, []vg.Point{{X: f.from, Y: low}, {X: f.to, Y: low}, {X: f.to, Y: high}, {X: f.from, Y: high}})
		write(data, letters(textSize), f.from, f.foot(data)+4, draw.XLeft, f.label)
	}
}

// foot is the lower end of the flag's row.
func (f flag) foot(data draw.Canvas) vg.Length { return data.Max.Y + vg.Length(f.row)*markHeight }
