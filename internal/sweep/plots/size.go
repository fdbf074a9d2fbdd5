package plots

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Columns are widths in mm, by name, that fit into one column of a journal and into both. ACM has
// 84.7 and 177.8 mm, IEEE 88.9 and 181, Nature 89 and 183, Elsevier 90 and 190.
var Columns = map[string]float64{"column": 84, "page": 177}

// The range of widths in mm.
const (
	minWidth = 60
	maxWidth = 500
)

// Wide returns the style for pictures of a width in mm: a number with mm or in, or a name in
// [Columns]. Texts keep their size, so that a picture need not be scaled in a paper.
func (s Style) Wide(width string) (Style, error) {
	mm, known := Columns[width]
	if !known {
		number, unit := strings.CutSuffix(width, "mm")
		factor := 1.0
		if !unit {
			number, unit = strings.CutSuffix(width, "in")
			factor = 25.4
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err == nil && !unit {
			return s, withoutUnit(v)
		}
		if mm = v * factor; err != nil || !unit || !(minWidth <= mm && mm <= maxWidth) {
			return s, fmt.Errorf("invalid width %q: want column (%g mm), page (%g mm), or a length from %d mm to %d mm, such as 85mm or 3.5in", width, Columns["column"], Columns["page"], minWidth, maxWidth)
		}
	}
	s.column = vg.Length(mm) * vg.Millimeter
	return s, nil
}

// withoutUnit is the error for a width that is only a number.
func withoutUnit(width float64) error {
	const maxInches = maxWidth / 25.4
	for unit, fits := range map[string]bool{"mm": width >= minWidth && width <= maxWidth, "in": width >= minWidth/25.4 && width <= maxInches} {
		if fits {
			return fmt.Errorf("width %g has no unit: did you mean %[1]g%s?", width, unit)
		}
	}
	return fmt.Errorf("width %g has no unit: want a length from %d mm to %d mm, such as 85mm or 3.5in", width, minWidth, maxWidth)
}

// size is what a picture is drawn on. On paper it is scaled, so that small texts have paperText.
type size struct {
	width, height vg.Length
	scale         float64
}

const (
	paperText = 8.0 // points: what journals ask for at least
	paperDots = 300 // per inch
)

// paperHeight is the height of data of a width: those in a column are higher, relative to it.
func paperHeight(width vg.Length) vg.Length {
	return max(minDataSize, width/2, min(width*2/3, 190))
}

// size returns the size of a figure. On paper its height is what the data and the texts need.
func (s Style) size(f *figure) size {
	if s.column == 0 {
		return size{pixels(Width), pixels(Height), 1}
	}
	one := size{scale: paperText / textSize}
	one.width = s.column / vg.Length(one.scale)
	one.height = one.width
	for range passes {
		l := f.settle(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: one.width, Y: one.height}}})
		data := l.data.Size()
		if data.X <= 0 {
			break // drawing it says why
		}
		one.height += paperHeight(data.X) - data.Y
	}
	one.height = vg.Length(math.Ceil(float64(one.height)))
	return one
}

// printed is a length on paper.
func (s size) printed(l vg.Length) vg.Length { return l * vg.Length(s.scale) }

// dots is the number of pixels in an inch of what is drawn.
func (s size) dots() int {
	if s.scale == 1 {
		return vg96
	}
	return int(math.Round(paperDots * s.scale))
}

const vg96 = 96

// intoSVG gives a picture its size on paper.
func (s size) intoSVG(svg []byte) []byte {
	if s.scale == 1 {
		return svg
	}
	return fixedSize.ReplaceAll(svg, fmt.Appendf(nil, `<svg width="%.4gpt" height="%.4gpt"`, s.printed(s.width).Points(), s.printed(s.height).Points()))
}

// intoPNG adds the resolution on paper to a picture.
func (s size) intoPNG(bits []byte) []byte {
	if s.scale == 1 {
		return bits
	}
	perMeter := uint32(math.Round(paperDots / 0.0254))
	data := binary.BigEndian.AppendUint32([]byte("pHYs"), perMeter)
	data = append(binary.BigEndian.AppendUint32(data, perMeter), 1)
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(data)-4)), data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(data))
	return slices.Concat(bits[:headSize], chunk, bits[headSize:])
}
