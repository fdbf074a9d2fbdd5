package plots

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// scale is an axis with its visible range.
type scale struct {
	Axis
	min, max float64
}

// margin is the free share of an axis at each end, so that the frame cuts no marker.
const margin = 0.03

// paddedScale returns a scale for the values with a margin at both ends.
func (a Axis) paddedScale(values []float64) (scale, error) {
	s, err := a.scaleOf(values)
	if err != nil {
		return s, err
	}
	if a.Log {
		ratio := math.Pow(s.max/s.min, margin)
		s.min, s.max = s.min/ratio, s.max*ratio
		return s, nil
	}
	width := s.max - s.min
	s.min, s.max = s.min-margin*width, s.max+margin*width
	return s, nil
}

// scaleOf returns a scale from the lowest to the highest of the values.
func (a Axis) scaleOf(values []float64) (scale, error) {
	s := scale{Axis: a, min: math.Inf(1), max: math.Inf(-1)}
	if a.From != 0 || a.To != 0 {
		values = append([]float64{a.From, a.To}, values...)
	}
	for _, v := range values {
		if err := a.check(v); err != nil {
			return s, err
		}
		s.min, s.max = math.Min(s.min, v), math.Max(s.max, v)
	}
	if s.min >= s.max {
		s.min, s.max = rangeAround(s.min, a.Log)
	}
	// A range cannot be divided if neighbouring numbers are as far apart as ticks: relative to
	// its ends, or because it is so narrow that steps are not normal floating-point numbers.
	if width := s.max - s.min; math.IsInf(width, 0) || width < minRange || width < 1e-9*math.Max(math.Abs(s.min), math.Abs(s.max)) {
		return s, fmt.Errorf("the axis %q cannot be divided from %v to %v", a.Name, s.min, s.max)
	}
	return s, nil
}

// minRange keeps steps above the smallest normal number, 2e-308.
const minRange = 1e-300

// rangeAround returns a range around a single value.
func rangeAround(v float64, log bool) (low, high float64) {
	switch {
	case log:
		return v / 2, v * 2
	case v == 0:
		return -1, 1
	}
	return v - math.Abs(v)/2, v + math.Abs(v)/2
}

// tickCount is the approximate number of labelled ticks of an axis, if they have room.
const tickCount = 8

// fewestTicks is the number below which labels may touch.
const fewestTicks = 2

// ticksIn returns the ticks of a horizontal axis: as many as have labels that do not touch.
func (s scale) ticksIn(width vg.Length) []tick {
	for count := tickCount; ; count-- {
		if ticks := s.ticks(count); count <= fewestTicks || s.haveRoom(ticks, width) {
			return ticks
		}
	}
}

// haveRoom reports whether labels side by side leave a gap between them.
func (s scale) haveRoom(ticks []tick, width vg.Length) bool {
	const between = textSize / 3
	end := vg.Length(math.Inf(-1))
	for _, t := range ticks {
		if t.label == "" {
			continue
		}
		middle, half := vg.Length(s.norm(t.value))*width, textStyle(textSize).Width(t.label)/2
		if middle-half < end+between {
			return false
		}
		end = middle + half
	}
	return true
}

// ticks returns round numbers in the range, about as many as count. Those without a label are short.
func (s scale) ticks(count int) []tick {
	if s.Log {
		if ticks := decades(s.min, s.max, count); labelled(ticks) >= 2 {
			return ticks
		}
	}
	step := round((s.max - s.min) / float64(count))
	var ticks []tick
	first := math.Ceil(s.min/step - 1e-9)
	for i := first; i <= math.Floor(s.max/step+1e-9); i++ {
		ticks = append(ticks, tick{i * step, number(i*step, step)})
	}
	return ticks
}

func labelled(ticks []tick) (n int) {
	for _, t := range ticks {
		if t.label != "" {
			n++
		}
	}
	return n
}

// round returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not below step.
func round(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= step*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// number formats a multiple of a step with as many digits as the step needs.
func number(v, step float64) string {
	if math.Abs(v) < step/2 {
		v = 0
	}
	if step >= 1e6 || step < 1e-4 {
		return minus(strconv.FormatFloat(v, 'g', 4, 64))
	}
	digits := 0
	for ; digits < 6 && math.Abs(step*math.Pow10(digits)-math.Round(step*math.Pow10(digits))) > 1e-6; digits++ {
	}
	return minus(strconv.FormatFloat(v, 'f', digits, 64))
}

// minus replaces the hyphen with a minus sign, which is as wide as a plus.
func minus(number string) string { return strings.ReplaceAll(number, "-", "\u2212") }

// decades returns the ticks of a logarithmic axis: powers of ten, and over a short range twice
// and five times these. If there are many, only some are labelled.
func decades(from, to float64, count int) (ticks []tick) {
	low, high := int(math.Floor(math.Log10(from))), int(math.Ceil(math.Log10(to)))
	every := 1 + (high-low)/(count+1)
	long := low < -4 || high > 7
	for e := low; e <= high; e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < from*(1-1e-9) || v > to*(1+1e-9) {
				continue
			}
			t := tick{value: v}
			if m == 1 && e%every == 0 || high-low <= 2 && (m == 2 || m == 5) {
				t.label = power(m, e, long)
			}
			if t.label != "" || every == 1 {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// power formats m times ten to the e. long says that the axis has long numbers, which are
// formatted with an exponent.
func power(m, e int, long bool) string {
	if !long || e == 0 {
		return strconv.FormatFloat(float64(m)*math.Pow10(e), 'f', max(0, -e), 64)
	}
	return strconv.Itoa(m) + "e" + minus(strconv.Itoa(e))
}

// norm returns the position of a value on the axis, from 0 to 1.
func (s scale) norm(v float64) float64 {
	if s.Log {
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	return (v - s.min) / (s.max - s.min)
}

// clampedNorm is norm, limited to the ends of the axis.
func (s scale) clampedNorm(v float64) float64 { return s.norm(min(max(v, s.min), s.max)) }

// tick is a tick of an axis. Without a label it is short.
type tick struct {
	value float64
	label string
}

const (
	tickLength = vg.Length(4)
	tickGap    = vg.Length(3) // between a tick of the y axis and its label
)

var axisLine = draw.LineStyle{Color: ink, Width: 0.75}

// inside returns what the tick labels, which are left of the data and below, leave of a canvas
// for the data. Labels at the ends may extend beyond the data, but not beyond the canvas.
func (f *figure) inside(c draw.Canvas) draw.Canvas {
	style, ys := textStyle(textSize), f.y.ticks(tickCount)
	edge, widest := c.Max, vg.Length(0)
	for _, t := range ys {
		widest = max(widest, style.Width(t.label))
	}
	c.Min.X += widest + tickGap + tickLength
	c.Min.Y += textSize*1.2 + tickLength
	for _, t := range f.x.ticksIn(c.Max.X - c.Min.X) {
		c.Max.X = longest(c.Min.X, c.Max.X, edge.X-style.Width(t.label)/2, f.x.norm(t.value))
	}
	for _, t := range ys {
		if t.label != "" {
			c.Max.Y = longest(c.Min.Y, c.Max.Y, edge.Y-textSize/2, f.y.norm(t.value))
		}
	}
	return c
}

// longest returns the largest end of an axis from low to high for which the position part does
// not exceed a limit.
func longest(low, high, limit vg.Length, part float64) vg.Length {
	if low+(high-low)*vg.Length(part) <= limit {
		return high
	}
	return low + (limit-low)/vg.Length(part)
}

// drawAxes draws the ticks with their labels, and a grid line for each label.
func (f *figure) drawAxes(data draw.Canvas) {
	style, grid := textStyle(textSize), draw.LineStyle{Color: gridColor, Width: 0.5}
	for _, t := range f.x.ticksIn(data.Max.X - data.Min.X) {
		x, length := data.X(f.x.norm(t.value)), tickLength/2
		if t.label != "" {
			length = tickLength
			data.StrokeLine2(grid, x, data.Min.Y, x, data.Max.Y)
			drawText(data, style, x, data.Min.Y-tickLength-textSize, draw.XCenter, t.label)
		}
		data.StrokeLine2(axisLine, x, data.Min.Y-length, x, data.Min.Y)
	}
	for _, t := range f.y.ticks(tickCount) {
		y, length := data.Y(f.y.norm(t.value)), tickLength/2
		if t.label != "" {
			length = tickLength
			data.StrokeLine2(grid, data.Min.X, y, data.Max.X, y)
			drawText(data, style, data.Min.X-tickLength-tickGap, y-0.35*textSize, draw.XRight, t.label)
		}
		data.StrokeLine2(axisLine, data.Min.X-length, y, data.Min.X, y)
	}
}

// transforms returns functions from values to positions on the canvas.
func (f *figure) transforms(c draw.Canvas) (x, y func(float64) vg.Length) {
	x = func(v float64) vg.Length { return c.X(f.x.norm(v)) }
	y = func(v float64) vg.Length { return c.Y(f.y.norm(v)) }
	return x, y
}

// point returns the position of a value on the canvas, limited to its edges (an interval may
// begin below the range of a logarithmic axis).
func (f *figure) point(c draw.Canvas, v XY) vg.Point {
	return vg.Point{X: c.X(f.x.clampedNorm(v.X)), Y: c.Y(f.y.clampedNorm(v.Y))}
}
