package plots

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// ErrEmpty is returned of a chart in which there is nothing to draw.
var ErrEmpty = errors.New("nothing to draw")

// Chart is what can be drawn: [Curves], [HeatMap], [Front].
type Chart interface {
	// figure checks the chart and lays out all that is to be drawn.
	figure() (*figure, error)

	// words is its title, and data what it shows as a table.
	words() string
	data() (head []string, rows [][]string)
}

// Axis is what one direction of a chart shows.
type Axis struct {
	Name string // in words, as in "restart delay"
	Unit string // as in "TTL"; "" of a mere number

	// From and To are shown in any case, as 0 and 1 of a probability. Where both are zero
	// the data alone decide.
	From, To float64

	// Log shows equal ratios as equal lengths. All values are then above zero; an
	// interval may begin at zero, and is drawn down to the edge.
	Log bool
}

// label is the axis's title.
func (a Axis) label() string {
	if a.Unit == "" {
		return a.Name
	}
	return a.Name + " [" + a.Unit + "]"
}

// XY is a place in a chart.
type XY struct{ X, Y float64 }

// check says of a value whether it has a place on the axis.
func (a Axis) check(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v is no place on the axis %q", v, a.Name)
	case a.Log && v <= 0:
		return fmt.Errorf("%v has no place on the axis %q, which is logarithmic", v, a.Name)
	}
	return nil
}

// printable says of a text whether it can stand in a picture: XML has no place for most
// control characters, and the font draws a box for what it does not have.
func printable(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("the text %q is not UTF-8", text)
	}
	face := fonts().Lookup(textStyle(textSize).Font, textSize).Face
	for _, r := range text {
		if glyph, err := face.GlyphIndex(nil, r); err != nil || glyph == 0 || unicode.IsControl(r) {
			return fmt.Errorf("the text %q has the character %q (%U), which cannot be drawn", text, r, r)
		}
	}
	return nil
}

// Title returns what stands above a chart.
func Title(c Chart) string { return c.words() }

// Data returns what a chart shows as a table: its head and its rows.
func Data(c Chart) (head []string, rows [][]string) { return c.data() }

// figureText writes a value as people read it.
func figureText(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func (c Curves) words() string { return c.Title }

func (h HeatMap) words() string { return h.Title }

func (f Front) words() string { return f.Title }

// data has a row for each point. What the formula says stands beside the points at which
// it has a corner.
func (c Curves) data() (head []string, rows [][]string) {
	head = []string{"curve", c.X.label(), c.Y.label(), "from", "to", "formula"}
	for _, one := range c.Curves {
		formula := map[float64]float64{}
		for _, at := range one.Formula {
			formula[at.X] = at.Y
		}
		for _, p := range one.Points {
			says := math.NaN()
			if v, ok := formula[p.X]; ok {
				says = v
			}
			rows = append(rows, []string{one.Name, figureText(p.X), figureText(p.Y), figureText(p.Lo), figureText(p.Hi), figureText(says)})
		}
	}
	return head, rows
}

// data has a row for each row of the map, from its foot to its head.
func (h HeatMap) data() (head []string, rows [][]string) {
	head = []string{h.Y.label() + " \\ " + h.X.label()}
	for _, x := range h.Xs {
		head = append(head, figureText(x))
	}
	for j, y := range h.Ys {
		row := []string{figureText(y)}
		for _, v := range h.Values[j] {
			row = append(row, figureText(v))
		}
		rows = append(rows, row)
	}
	return head, rows
}

func (f Front) data() (head []string, rows [][]string) {
	head = []string{"setting", f.X.label(), f.Y.label(), "what it is"}
	for _, s := range f.Settings {
		what := "beaten by another"
		switch {
		case s.Recommended:
			what = "recommended"
		case s.Best:
			what = "Pareto front"
		}
		rows = append(rows, []string{s.Label, figureText(s.X), figureText(s.Y), what})
	}
	return head, rows
}
