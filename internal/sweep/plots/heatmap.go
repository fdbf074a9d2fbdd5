package plots

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatMap is values from 0 to 1 over a grid of two parameters, with a line over it.
type HeatMap struct {
	Title string
	X, Y  Axis

	// Xs and Ys are the grid's columns and rows, ascending.
	Xs, Ys []float64

	// Values are rows of columns: Values[j][i] is at Xs[i] and Ys[j]. NaN means not measured.
	Values [][]float64

	Runs [][]int // of each value; nil: unknown

	// Value names the values, as in "probability of a violation". Zero says what 0, a white
	// cell, means; empty: "none seen".
	Value, Zero string

	// Line is drawn over the cells. Its corners may lie outside the map. LineName is its name
	// in the legend.
	Line     []XY
	LineName string
}

func (h HeatMap) figure(s Style) (*figure, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	columns, err := h.X.edges(h.Xs)
	if err != nil {
		return nil, err
	}
	rows, err := h.Y.edges(h.Ys)
	if err != nil {
		return nil, err
	}
	f := &figure{title: h.Title, formula: h.LineName, bar: &bar{h.Value, s}, runs: runsText(slices.Concat(h.Runs...), perPoint)}
	// From and To would leave an empty rim.
	x, y := h.X, h.Y
	x.From, x.To, y.From, y.To = 0, 0, 0, 0
	if f.x, err = x.scaleOf(columns); err != nil {
		return nil, err
	}
	if f.y, err = y.scaleOf(rows); err != nil {
		return nil, err
	}
	f.layers = []layer{func(c draw.Canvas, f *figure) { h.cells(c, f, s, columns, rows) }, h.line}
	f.legend = h.entries()
	return f, nil
}

func (h HeatMap) check() error {
	if len(h.Xs) == 0 || len(h.Ys) == 0 {
		return ErrEmpty
	}
	if len(h.Values) != len(h.Ys) {
		return fmt.Errorf("%d rows of values for %d on the axis %q", len(h.Values), len(h.Ys), h.Y.Name)
	}
	for j, row := range h.Values {
		if len(row) != len(h.Xs) {
			return fmt.Errorf("row %d: %d values for %d on the axis %q", j+1, len(row), len(h.Xs), h.X.Name)
		}
		for i, v := range row {
			if v < 0 || v > 1 {
				return fmt.Errorf("row %d, column %d: %v: want 0 to 1", j+1, i+1, v)
			}
		}
	}
	if h.Runs != nil && (len(h.Runs) != len(h.Ys) || slices.ContainsFunc(h.Runs, func(row []int) bool { return len(row) != len(h.Xs) })) {
		return errors.New("the numbers of runs are not those of the values")
	}
	for i, p := range h.Line {
		if err := p.check(h.X, h.Y); err != nil {
			return fmt.Errorf("corner %d of the line: %w", i+1, err)
		}
	}
	return nil
}

// edges returns where the cells of ascending positions meet, half-way on the axis, and the two
// outer ends, as far from the first and the last position as the next edge.
func (a Axis) edges(places []float64) ([]float64, error) {
	forth, back := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if a.Log {
		forth, back = math.Log, math.Exp
	}
	for i, v := range places {
		if err := a.check(v); err != nil {
			return nil, err
		}
		if i > 0 && v <= places[i-1] {
			return nil, fmt.Errorf("the values on the axis %q do not ascend: %v after %v", a.Name, v, places[i-1])
		}
	}
	n := len(places)
	if n == 1 {
		low, high := rangeAround(places[0], a.Log)
		return []float64{low, high}, nil
	}
	edges := make([]float64, n+1)
	for i := 1; i < n; i++ {
		edges[i] = back((forth(places[i-1]) + forth(places[i])) / 2)
	}
	edges[0] = back(2*forth(places[0]) - forth(edges[1]))
	edges[n] = back(2*forth(places[n-1]) - forth(edges[n-1]))
	return edges, nil
}

// cells fills a rectangle for each value.
func (h HeatMap) cells(c draw.Canvas, f *figure, s Style, columns, rows []float64) {
	x, y := f.transforms(c)
	for j, row := range h.Values {
		for i, v := range row {
			s.cell(c, v, vg.Point{X: x(columns[i]), Y: y(rows[j])}, vg.Point{X: x(columns[i+1]), Y: y(rows[j+1])})
		}
	}
}

// lap is how far a cell extends under its right and upper neighbours, which are drawn after
// it. Otherwise the background would shine through the seam.
const lap = vg.Length(0.75)

// cell fills a rectangle with the colour of a value.
func (s Style) cell(c draw.Canvas, v float64, low, high vg.Point) {
	high = vg.Point{X: min(high.X+lap, c.Max.X), Y: min(high.Y+lap, c.Max.Y)}
	corners := []vg.Point{low, {X: high.X, Y: low.Y}, high, {X: low.X, Y: high.Y}}
	if math.IsNaN(v) {
		hatch(&c, corners)
		return
	}
	c.FillPolygon(s.heatColor(v), corners)
}

// hatch draws a cell without a value.
func hatch(c *draw.Canvas, corners []vg.Point) {
	s := draw.LineStyle{Color: faint, Width: 0.5}
	c.FillPolygon(gridColor, corners)
	c.StrokeLines(s, []vg.Point{corners[0], corners[2]}, []vg.Point{corners[1], corners[3]})
}

// blank draws a cell of value 0 with an outline, for the legend.
func blank(c *draw.Canvas, corners []vg.Point) {
	c.FillPolygon(white, corners)
	c.StrokeLines(draw.LineStyle{Color: faint, Width: 0.5}, append(corners, corners[0]))
}

// line draws the line over the cells, with a white rim that separates it from their colours.
func (h HeatMap) line(c draw.Canvas, f *figure) {
	x, y := f.transforms(c)
	var corners []vg.Point
	for _, v := range h.Line {
		corners = append(corners, vg.Point{X: x(v.X), Y: y(v.Y)})
	}
	for _, s := range overMap {
		c.StrokeLines(s, c.ClipLinesXY(corners)...)
	}
}

// overMap are the styles of the line.
var overMap = []draw.LineStyle{
	{Color: color.White, Width: 4},
	{Color: color.Black, Width: 1.8, Dashes: []vg.Length{7, 3}},
}

func (h HeatMap) entries() (list []entry) {
	if len(h.Line) > 0 {
		list = append(list, entry{name: h.LineName, thumbs: []thumb{sample(overMap[0]), sample(overMap[1])}})
	}
	has := func(is func(float64) bool) bool {
		return slices.ContainsFunc(h.Values, func(row []float64) bool { return slices.ContainsFunc(row, is) })
	}
	if has(func(v float64) bool { return v == 0 }) {
		list = append(list, entry{name: cmp.Or(h.Zero, "none seen"), thumbs: []thumb{patch(blank)}})
	}
	if has(math.IsNaN) {
		list = append(list, entry{name: "not measured", thumbs: []thumb{patch(hatch)}})
	}
	return list
}
