package plots

import (
	"errors"
	"fmt"
	"math"
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
	face := fonts().Lookup(letters(textSize).Font, textSize).Face
	for _, r := range text {
		if glyph, err := face.GlyphIndex(nil, r); err != nil || glyph == 0 || unicode.IsControl(r) {
			return fmt.Errorf("the text %q has the character %q (%U), which cannot be drawn", text, r, r)
		}
	}
	return nil
}
