package plots

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// textElement matches a text of a picture: its position, its other attributes with font size and
// colour, and the text.
var textElement = regexp.MustCompile(`<text x="([^"]*)" y="([^"]*)" transform="([^"]*)"\s+(style="[^"]*font-size:([0-9.]+)px[^"]*fill:(#[0-9A-Fa-f]{6})[^"]*")>([^<]*)</text>`)

// outlined replaces the texts of a picture by the outlines of their letters. The text remains as the
// label of its group, as Inkscape writes it, for programs that read pictures aloud.
func outlined(svg []byte) []byte {
	used := map[sfnt.GlyphIndex]bool{}
	svg = textElement.ReplaceAllFunc(svg, func(element []byte) []byte {
		m := textElement.FindStringSubmatch(string(element))
		size, err := strconv.ParseFloat(m[5], 64)
		if err != nil {
			panic(err) // the expression matches numbers
		}
		var b strings.Builder
		fmt.Fprintf(&b, `<g aria-label="%s" transform="%s translate(%s, %s) scale(%.6g)" fill="%s">`, m[7], m[3], m[1], m[2], size/float64(face().UnitsPerEm()), m[6])
		for _, g := range layOut(html.UnescapeString(m[7])) {
			if used[g.index] = true; len(outline(g.index)) > 0 {
				fmt.Fprintf(&b, `<use xlink:href="#glyph-%d" x="%d"/>`, g.index, g.x)
			}
		}
		b.WriteString("</g>")
		return []byte(b.String())
	})
	var defs strings.Builder
	for _, index := range slices.Sorted(maps.Keys(used)) {
		if d := outline(index); d != "" {
			fmt.Fprintf(&defs, "<path id=\"glyph-%d\" d=\"%s\"/>\n", index, d)
		}
	}
	return afterHead(svg, "<defs>\n"+defs.String()+"</defs>\n")
}

// afterHead inserts a text behind the opening tag of a picture.
func afterHead(svg []byte, text string) []byte {
	i := bytes.Index(svg, []byte("<svg "))
	end := i + bytes.IndexByte(svg[i:], '>') + 1
	return slices.Concat(svg[:end], []byte("\n"), []byte(text), bytes.TrimLeft(svg[end:], "\n"))
}

func face() *sfnt.Font { return fonts().Lookup(typeface, textSize).Face }

// letter is a glyph at a position, in the units of the font.
type letter struct {
	index sfnt.GlyphIndex
	x     int
}

// layOut places the letters of a text as [font.Face.Width] measures them, with kerning.
func layOut(text string) (list []letter) {
	var buf sfnt.Buffer
	em := fixed.Int26_6(face().UnitsPerEm())
	x := 0
	for _, r := range text {
		index, err := face().GlyphIndex(&buf, r)
		if err != nil {
			panic(err) // texts are checked before they are drawn
		}
		if len(list) > 0 {
			if kern, err := face().Kern(&buf, list[len(list)-1].index, index, em, 0); err == nil {
				x += int(kern)
			}
		}
		list = append(list, letter{index, x})
		advance, err := face().GlyphAdvance(&buf, index, em, 0)
		if err != nil {
			panic(err)
		}
		x += int(advance)
	}
	return list
}

// outline returns the path of a glyph in the units of the font, with y downward.
func outline(index sfnt.GlyphIndex) string {
	var buf sfnt.Buffer
	segments, err := face().LoadGlyph(&buf, index, fixed.Int26_6(face().UnitsPerEm()), nil)
	if err != nil {
		panic(err) // the font is compiled in
	}
	var b strings.Builder
	for _, s := range segments {
		points := 1
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if b.Len() > 0 {
				b.WriteByte('Z')
			}
			b.WriteByte('M')
		case sfnt.SegmentOpLineTo:
			b.WriteByte('L')
		case sfnt.SegmentOpQuadTo:
			b.WriteByte('Q')
			points = 2
		case sfnt.SegmentOpCubeTo:
			b.WriteByte('C')
			points = 3
		}
		for i, p := range s.Args[:points] {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%d %d", int(p.X), int(p.Y))
		}
	}
	if b.Len() > 0 {
		b.WriteByte('Z')
	}
	return b.String()
}
