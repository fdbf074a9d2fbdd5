// Package picture draws the results of a sweep, and the choice that an advice offers, with gonum's
// plots. The values are in the CSV files beside the pictures.
package picture

import (
	"bytes"
	"cmp"
	"image/color"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Picture has a title and panels, which are drawn in rows.
type Picture struct {
	Title  string
	panels []*plot.Plot
}

// SVG returns the picture as a standalone SVG.
func (p Picture) SVG() ([]byte, error) {
	text, err := p.encode("svg")
	return bytes.ReplaceAll(text, []byte("font-family:Liberation Serif"), []byte("font-family:Liberation Serif,Times New Roman,Times,serif")), err
}

// Save writes name.svg and name.png into an existing directory, and replaces existing files.
func (p Picture) Save(dir, name string) error {
	svg, err := p.SVG()
	if err != nil {
		return err
	}
	bits, err := p.encode("png")
	if err != nil {
		return err
	}
	return cmp.Or(files.WriteWhole(filepath.Join(dir, name+".svg"), svg), files.WriteWhole(filepath.Join(dir, name+".png"), bits))
}

const (
	width        = 10 * vg.Inch
	titleLetters = 110 // that fit into a line
	lineHeight   = vg.Length(15)
	mostColumns  = 3
	onePanel     = 5 * vg.Inch // the height of a single row
	panelHeight  = 3 * vg.Inch // of one of several rows
	gap          = vg.Length(12)
)

func (p Picture) encode(format string) ([]byte, error) {
	columns := min(len(p.panels), mostColumns)
	rows := (len(p.panels) + columns - 1) / columns
	lines := textfmt.Lines(p.Title, titleLetters)
	above := vg.Length(len(lines))*lineHeight + gap
	height := max(vg.Length(rows)*panelHeight, onePanel) + above
	canvas, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return nil, err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	style := plot.New().Title.TextStyle
	for i, line := range lines {
		whole.FillText(style, vg.Point{X: whole.Center().X, Y: height - gap/2 - vg.Length(i)*lineHeight}, line)
	}
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
		copy(grid[i], p.panels[i*columns:])
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: gap, PadY: gap}
	for i, row := range plot.Align(grid, tiles, draw.Crop(whole, gap, -gap, gap, -above)) {
		for j, c := range row {
			if one := grid[i][j]; one != nil {
				one.Draw(c)
			}
		}
	}
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

// panel returns an empty plot. Its title may be empty.
func panel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top, p.Legend.Left = true, true
	for _, size := range []*vg.Length{&p.Title.TextStyle.Font.Size, &p.X.Label.TextStyle.Font.Size, &p.Y.Label.TextStyle.Font.Size, &p.Legend.TextStyle.Font.Size} {
		*size = 9
	}
	return p
}

// add adds a panel, with its legend above the data and not over them.
func (p *Picture) add(one *plot.Plot, err error) error {
	if err != nil {
		return err
	}
	height := one.Legend.Rectangle(draw.Canvas{}).Size().Y
	one.Legend.YOffs, one.Title.Padding = height, height
	if one.Title.Text == "" {
		one.Title.Text = " " // without a title there is no padding
	}
	p.panels = append(p.panels, one)
	return nil
}

// series is points with intervals and a line, each of which may be missing. Without a name it is not
// in the legend.
type series struct {
	name   string
	points plotter.XYs
	errors plotter.YErrors
	line   plotter.XYs
}

func (s *series) add(x, y, low, high float64) {
	s.points = append(s.points, plotter.XY{X: x, Y: y})
	s.errors = append(s.errors, struct{ Low, High float64 }{y - low, high - y})
}

// draw draws a series; its colour and symbol follow from its number.
func (s *series) draw(p *plot.Plot, number int) error {
	var legend []plot.Thumbnailer
	if len(s.line) > 0 {
		line, err := plotter.NewLine(s.line)
		if err != nil {
			return err
		}
		line.Color, line.Dashes = plotutil.Color(number), plotutil.Dashes(number)
		p.Add(line)
		legend = append(legend, line)
	}
	if len(s.points) > 0 {
		dots, err := plotter.NewScatter(s.points)
		if err != nil {
			return err
		}
		dots.Color, dots.Shape = plotutil.Color(number), plotutil.Shape(number)
		p.Add(dots)
		legend = append(legend, dots)
	}
	if slices.ContainsFunc(s.errors, func(e struct{ Low, High float64 }) bool { return e.Low+e.High > 0 }) {
		bars, err := plotter.NewYErrorBars(struct {
			plotter.XYs
			plotter.YErrors
		}{s.points, s.errors})
		if err != nil {
			return err
		}
		bars.Color = plotutil.Color(number)
		p.Add(bars)
	}
	if s.name != "" && len(legend) > 0 {
		p.Legend.Add(s.name, legend...)
	}
	return nil
}
