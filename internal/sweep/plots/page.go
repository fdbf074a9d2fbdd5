package plots

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// pageColors maps the colours of pictures to the custom properties of a page
// (report/document).
var pageColors = map[color.NRGBA]string{
	ink: "--ink", faint: "--soft", gridColor: "--line", white: "--ground",
	hues[0]: "--series-1", hues[1]: "--series-6", hues[2]: "--series-3", hues[3]: "--series-4",
	hues[4]: "--series-2", hues[5]: "--series-5", hues[6]: "--ink",
}

var white = color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}

// PageStyle returns the CSS that [Page] needs for the cells of maps: the colour map, which on
// a dark page is reversed, so that small values are close to the background there too.
func PageStyle() string {
	light, dark := stops(func(i int) int { return i }), stops(func(i int) int { return len(viridis) - 1 - i })
	return fmt.Sprintf(`:root { %s }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { %s } }
:root[data-theme="dark"] { %s }
.plot { width: 100%%; min-width: 18rem; max-width: 48rem; }
figure:has(> .scroll > .plot) { display: flex; flex-direction: column; } figure:has(> .scroll > .plot) > figcaption { order: -1; color: var(--ink); font-weight: 600; overflow-wrap: anywhere; }
`, light, dark, dark)
}

func stops(at func(int) int) string {
	var list []string
	for i := range viridis {
		c := viridis[at(i)]
		list = append(list, fmt.Sprintf("--heat-%d: #%02x%02x%02x;", i, c.R, c.G, c.B))
	}
	return strings.Join(list, " ")
}

var (
	styleAttribute = regexp.MustCompile(`style="[^"]*"`)
	colours        = regexp.MustCompile(`#[0-9A-Fa-f]{6}`)
	fixedSize      = regexp.MustCompile(`<svg width="[^"]*" height="[^"]*"`)
)

// Page draws the chart as SVG for a page with its own light and dark colours: its colours are
// the page's custom properties. It has no title, no ids and no fixed size.
func Page(c Chart) ([]byte, error) {
	f, err := c.figure(Screen)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, err
	}
	title := f.title
	f.title = ""
	svg, err := f.textSVG(pixels(pageWidth), pixels(pageHeight))
	for height := pageHeight + pageStep; err != nil && height <= 2*pageHeight; height += pageStep { // a long legend
		svg, err = f.textSVG(pixels(pageWidth), pixels(float64(height)))
	}
	if err != nil { // many curves or long names
		svg, err = f.textSVG(pixels(Width), pixels(Height))
	}
	if err != nil {
		return nil, err
	}
	var unknown error
	svg = textElement.ReplaceAllFunc(svg, withTextLength)
	svg = styleAttribute.ReplaceAllFunc(svg, func(style []byte) []byte {
		return colours.ReplaceAllFunc(style, func(text []byte) []byte {
			paint, err := pageColor(string(text))
			if err != nil {
				unknown = err
			}
			return []byte(paint)
		})
	})
	label := `<svg class="plot" role="img" aria-label="` + html.EscapeString(title) + `"`
	svg = fixedSize.ReplaceAll(svg, []byte(strings.ReplaceAll(label, "$", "$$")))
	return bytes.TrimSpace(svg), unknown
}

// withTextLength gives a text the width that it was laid out for, whatever font the reader's
// machine has.
func withTextLength(element []byte) []byte {
	m := textElement.FindSubmatch(element)
	size, err := strconv.ParseFloat(string(m[5]), 64)
	says := html.UnescapeString(string(m[7]))
	if err != nil || says == "" {
		return element
	}
	width := textStyle(vg.Length(size)).Width(says)
	return fmt.Appendf(nil, `<text x="%s" y="%s" transform="%s" %s textLength="%.4g" lengthAdjust="spacingAndGlyphs">%s</text>`, m[1], m[2], m[3], m[4], float64(width), m[7])
}

// pageColor returns the page's colour for a fixed colour.
func pageColor(text string) (string, error) {
	bits, err := strconv.ParseUint(text[1:], 16, 32)
	if err != nil {
		return "", err
	}
	c := color.NRGBA{R: uint8(bits >> 16), G: uint8(bits >> 8), B: uint8(bits), A: 0xff}
	for own, name := range pageColors { // none is close to another
		if sameColor(own, c) {
			return "var(" + name + ")", nil
		}
	}
	for i := 1; i < len(viridis); i++ {
		if share, ok := mixed(viridis[i-1], viridis[i], c); ok {
			return fmt.Sprintf("color-mix(in srgb, var(--heat-%d) %.0f%%, var(--heat-%d))", i, 100*share, i-1), nil
		}
	}
	return "", fmt.Errorf("unknown colour %s", text)
}

// mixed returns how far a colour is on the way from one to another, if it lies there.
func mixed(from, to, c color.NRGBA) (share float64, ok bool) {
	a, b, v := channels(from), channels(to), channels(c)
	widest := 0
	for i := range a {
		if math.Abs(b[i]-a[i]) > math.Abs(b[widest]-a[widest]) {
			widest = i
		}
	}
	share = (v[widest] - a[widest]) / (b[widest] - a[widest])
	for i := range a {
		if math.Abs(a[i]+share*(b[i]-a[i])-v[i]) > 1.5 { // each channel was rounded
			return share, false
		}
	}
	return share, 0 <= share && share <= 1
}

// sameColor reports whether two colours are equal, apart from the library's rounding of
// transparent ones.
func sameColor(a, b color.NRGBA) bool {
	x, y := channels(a), channels(b)
	for i := range x {
		if math.Abs(x[i]-y[i]) > 2 {
			return false
		}
	}
	return true
}

func channels(c color.NRGBA) [3]float64 {
	return [3]float64{float64(c.R), float64(c.G), float64(c.B)}
}
