package plots

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// ErrEmpty is returned for a chart with nothing to draw.
var ErrEmpty = errors.New("nothing to draw")

// Chart is something that can be drawn: [Curves], [HeatMap], [Front].
type Chart interface {
	// figure validates the chart and lays it out.
	figure(s Style) (*figure, error)

	// words returns its title, data its content as a table for people, and table the same for
	// programs.
	words() string
	data() (head []string, rows [][]string)
	table() []Column
}

// Axis describes one direction of a chart.
type Axis struct {
	Name string // in words, as in "restart delay"
	Unit string // as in "TTL"; empty: none

	// From and To are always visible, as 0 and 1 of a probability. If both are 0, only the
	// data count.
	From, To float64

	// Log makes the axis logarithmic. All values have to be positive. An interval may begin at
	// 0, and is drawn down to the edge.
	Log bool
}

// label returns the axis's title.
func (a Axis) label() string {
	if a.Unit == "" {
		return a.Name
	}
	return a.Name + " [" + a.Unit + "]"
}

// XY is a position in a chart.
type XY struct{ X, Y float64 }

// check returns an error if a value has no position on the axis.
func (a Axis) check(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v is not a finite number (axis %q)", v, a.Name)
	case a.Log && v <= 0:
		return fmt.Errorf("%v is not positive, and the axis %q is logarithmic", v, a.Name)
	}
	return nil
}

// printable returns an error if a text cannot be drawn: XML excludes most control characters,
// and the font draws a box for missing characters.
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

// Title returns the title of a chart.
func Title(c Chart) string { return c.words() }

// Data returns the content of a chart as a table.
func Data(c Chart) (head []string, rows [][]string) { return c.data() }

// figureText formats a value for people.
func figureText(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func (c Curves) words() string { return c.Title }

func (h HeatMap) words() string { return h.Title }

func (f Front) words() string { return f.Title }

// data has a row for each point. The formula's value is given where it has a corner at the
// point.
func (c Curves) data() (head []string, rows [][]string) {
	head = []string{"curve", c.X.label(), c.Y.label(), "from", "to", "formula"}
	for _, one := range c.Curves {
		formula := one.formulaAt()
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

// data has a row for each row of the map, from bottom to top.
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
		rows = append(rows, []string{s.Label, figureText(s.X), figureText(s.Y), s.kind()})
	}
	return head, rows
}
