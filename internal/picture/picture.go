// Package picture draws the results of a sweep, and the choice that an advice offers, with gonum's
// plots. The values are in the CSV files beside the pictures.
package picture

import (
	"bytes"
	"image/color"
	"path/filepath"

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
func (p Picture) SVG() ([]byte, error) { return p.encode("svg") }

// Save writes name.svg and name.png into an existing directory, and replaces existing files.
func (p Picture) Save(dir, name string) error {
	for _, format := range []string{"svg", "png"} {
		text, err := p.encode(format)
		if err == nil {
			err = files.WriteWhole(filepath.Join(dir, name+"."+format), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The size of a picture. Its letters need a width of 10 inches for titleLetters.
const (
	width        = 10 * vg.Inch
	onePanel     = 5 * vg.Inch // the height of a single panel
	panelHeight  = 3 * vg.Inch // that of one of several
	mostColumns  = 3
	gap          = vg.Length(12)
	titleLetters = 110
)

func (p Picture) encode(format string) ([]byte, error) {
	columns := min(len(p.panels), mostColumns)
	rows := (len(p.panels) + columns - 1) / columns
	title := titleStyle()
	lines := textfmt.Lines(p.Title, titleLetters)
	above := vg.Length(len(lines))*title.Font.Size*1.2 + gap
	height := vg.Length(rows)*panelHeight + above
	if rows == 1 {
		height = onePanel + above
	}
	canvas, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return nil, err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Rectangle.Path())
	for i, line := range lines {
		whole.FillText(title, vg.Point{X: whole.Center().X, Y: height - gap/2 - vg.Length(i)*title.Font.Size*1.2}, line)
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

func titleStyle() draw.TextStyle { return plot.New().Title.TextStyle }

// series is points with a name in the legend; "": it is not there. Intervals and a line are optional.
type series struct {
	name    string
	points  plotter.XYs
	errors  plotter.YErrors // of each point; nil: none
	formula plotter.XYs     // a line
}

// add draws a series; its colour and symbol follow from its number.
func add(p *plot.Plot, number int, s series) error {
	var legend []plot.Thumbnailer
	if len(s.formula) > 0 {
		line, err := plotter.NewLine(s.formula)
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
	if len(s.errors) > 0 {
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
	if s.name != "" {
		p.Legend.Add(s.name, legend...)
	}
	return nil
}

// legendAbove moves the legend from the data to above them.
func legendAbove(p *plot.Plot) {
	height := p.Legend.Rectangle(draw.Canvas{}).Size().Y
	p.Legend.YOffs, p.Title.Padding = height, height
	if p.Title.Text == "" {
		p.Title.Text = " " // without a title there is no padding
	}
}

// panel returns an empty plot. Its title may be empty.
func panel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top = true
	for _, size := range []*vg.Length{&p.Title.TextStyle.Font.Size, &p.X.Label.TextStyle.Font.Size, &p.Y.Label.TextStyle.Font.Size, &p.Legend.TextStyle.Font.Size} {
		*size = 9
	}
	return p
}
