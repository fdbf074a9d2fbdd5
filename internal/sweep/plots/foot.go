package plots

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// foot returns what a reader has to know to read values off the figure.
func (f *figure) foot(data draw.Canvas) string {
	var sentences []string
	if f.runs != "" {
		sentences = append(sentences, "n = "+f.runs+".")
	}
	if f.shifted != nil {
		if by := f.shifted(data, f); by > 0 {
			sentences = append(sentences, fmt.Sprintf("Points are moved sideways by up to %s, so that they do not cover each other.", f.x.distance(by, data.Max.X-data.Min.X)))
		}
	}
	return strings.Join(sentences, " ")
}

// distance prints a part of an axis in its unit, rounded up to two digits. A logarithmic axis has no
// unit that is the same everywhere.
func (s scale) distance(part, whole vg.Length) string {
	share := float64(part / whole)
	if s.Log {
		return roundedUp(100*share) + " % of the axis"
	}
	return strings.TrimSpace(roundedUp(share*(s.max-s.min)) + " " + s.Unit)
}

// roundedUp prints a positive number with two digits that is not below it.
func roundedUp(v float64) string {
	digits := 1 - int(math.Floor(math.Log10(v)))
	power := math.Pow10(digits)
	return strconv.FormatFloat(math.Ceil(v*power-1e-9)/power, 'f', max(0, digits), 64)
}

// runsText says how many runs the points have, whose numbers are given; "" if that is unknown. of says
// what has so many.
func runsText(numbers []int, of string) string {
	low, high := 0, 0
	for _, n := range numbers { // 0: not measured
		if n > 0 && (low == 0 || n < low) {
			low = n
		}
		high = max(high, n)
	}
	switch {
	case high == 0:
		return ""
	case high == 1:
		return "1 run " + of
	case low == high:
		return fmt.Sprintf("%d runs %s", high, of)
	}
	return fmt.Sprintf("%d to %d runs %s", low, high, of)
}

// perPoint is what has so many runs, unless a chart says otherwise.
const perPoint = "per point"
