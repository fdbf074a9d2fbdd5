package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
	"pgregory.net/rapid"
)

// Law: ticks are ascending numbers within the range, neither too few nor too many, and each
// label is its value.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.Bool().Draw(t, "log")
		values := rapid.SliceOfN(rapid.Float64Range(-1e12, 1e12), 1, 3).Draw(t, "values")
		if log {
			for i, e := range values {
				values[i] = math.Pow(10, e/1e11) // 1e-10 to 1e10
			}
		}
		s, err := Axis{Name: "x", Log: log}.paddedScale(values)
		if err != nil {
			t.Skip(err)
		}
		n, last := 0, math.Inf(-1)
		for _, tick := range s.ticks(tickCount) {
			slack := 1e-6 * (s.max - s.min)
			if tick.value < s.min-slack || tick.value > s.max+slack || tick.value <= last {
				t.Fatalf("%v after %v, from %v to %v", tick.value, last, s.min, s.max)
			}
			last = tick.value
			if tick.label == "" {
				continue
			}
			n++
			v, err := strconv.ParseFloat(strings.ReplaceAll(tick.label, "\u2212", "-"), 64)
			if err != nil || math.Abs(v-tick.value) > 1e-3*math.Abs(tick.value)+slack {
				t.Fatalf("%q stands at %v", tick.label, tick.value)
			}
		}
		if n < 2 || n > 12 {
			t.Fatalf("%d numbers, from %v to %v", n, s.min, s.max)
		}
	})
}

// A range of subnormal numbers is an error.
func TestSubnormalRangeIsRefused(t *testing.T) {
	if s, err := (Axis{Name: "x"}).paddedScale([]float64{8.691694759794e-311}); err == nil {
		t.Errorf("an axis from %v to %v", s.min, s.max)
	}
}

// Law: ticks are round.
func TestRoundTicks(t *testing.T) {
	for _, of := range []struct {
		axis   Axis
		values []float64
		want   string
	}{
		{Axis{}, []float64{0, 1}, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{From: 0, To: 1}, []float64{0.3}, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{Axis{}, []float64{0, 1.5}, "0.0 0.2 0.4 0.6 0.8 1.0 1.2 1.4"},
		{Axis{}, []float64{-7, 30}, "\u22125 0 5 10 15 20 25 30"},
		{Axis{}, []float64{0, 0.14}, "0.00 0.02 0.04 0.06 0.08 0.10 0.12 0.14"},
		{Axis{}, []float64{0, 3e-5}, "0 5e\u221206 1e\u221205 1.5e\u221205 2e\u221205 2.5e\u221205 3e\u221205"},
		{Axis{Log: true}, []float64{0.001, 100}, "0.001 0.01 0.1 1 10 100"},
		{Axis{Log: true}, []float64{2, 40}, "2 5 10 20"},
		{Axis{Log: true}, []float64{1e-9, 1}, "1e\u22128 1e\u22126 1e\u22124 1e\u22122 1"},
		{Axis{Log: true}, []float64{11, 13}, "11.0 11.5 12.0 12.5 13.0"},
	} {
		s, err := of.axis.paddedScale(of.values)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tick := range s.ticks(tickCount) {
			if tick.label != "" {
				got = append(got, tick.label)
			}
		}
		if got := strings.Join(got, " "); got != of.want {
			t.Errorf("%v: %s; want %s", of.values, got, of.want)
		}
	}
}

// Law: labels of marks in one row do not touch, and no line crosses those to the right of
// their lines.
func TestMarkLabelsDoNotOverlap(t *testing.T) {
	data := draw.Canvas{Rectangle: vg.Rectangle{Min: vg.Point{X: 50, Y: 50}, Max: vg.Point{X: 550, Y: 300}}}
	x := scale{min: 0, max: 1}
	rapid.Check(t, func(t *rapid.T) {
		marks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Mark {
			return Mark{rapid.Float64Range(0, 1).Draw(t, "x"), strings.Repeat("m", rapid.IntRange(1, 15).Draw(t, "length"))}
		}), 0, 6).Draw(t, "marks")
		labels, rows := placeMarkLabels(marks, x, data)
		if len(labels) != len(marks) {
			t.Fatalf("%d labels for %d marks", len(labels), len(marks))
		}
		for i, f := range labels {
			if f.row >= rows || f.to > data.Max.X {
				t.Errorf("%+v is not in the picture", f)
			}
			for _, o := range labels[:i] {
				if o.row == f.row && o.from < f.to && f.from < o.to {
					t.Errorf("%+v touches %+v", f, o)
				}
				right := f.from > f.at && o.from > o.at
				if right && f.overlaps(o) {
					t.Errorf("%+v meets %+v", f, o)
				}
			}
		}
	})
}

// Law: labels of settings touch neither each other nor a setting.
func TestLabelsHaveRoom(t *testing.T) {
	c := draw.New(vgsvg.New(400, 300))
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.Float64Range(10, 290)
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) vg.Point {
			return vg.Point{X: vg.Length(coordinate.Draw(t, "x")), Y: vg.Length(coordinate.Draw(t, "y"))}
		}), 1, 20).Draw(t, "points")
		r := labelPlacer{bounds: c.Rectangle}
		for _, p := range points {
			r.dot(p, 3)
		}
		dots := len(r.taken)
		for _, p := range points {
			r.label(c, "a label", p, 3)
		}
		if len(points) == 1 && len(r.labels) != 1 {
			t.Error("there was room for the label, and it is not there")
		}
		for i, box := range r.labels {
			if overlaps(box, r.taken[:dots]) || overlaps(box, r.labels[:i]) {
				t.Errorf("label %d is in the way", i+1)
			}
		}
	})
}

// Law: names beside curves do not touch, and keep the order of the curves' ends.
func TestNamesBesideCurves(t *testing.T) {
	f := &figure{y: scale{min: 0, max: 1}}
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 500, Y: 300}}}
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		y := 0.0
		for range rapid.IntRange(1, 8).Draw(t, "curves") {
			y += rapid.Float64Range(0, 0.2).Draw(t, "farther up")
			entries = append(entries, entry{end: &XY{1, y}})
		}
		_, names := f.ends(c, entries)
		for i := 1; i < len(names); i++ {
			if names[i]-names[i-1] < entryHeight-0.01 {
				t.Errorf("names stand at %v", names)
			}
		}
	})
}

// Law: larger values are darker, and 0 is the lightest.
func TestHeatDarkens(t *testing.T) {
	luminance := func(v float64) float64 {
		c := Screen.heatColor(v)
		return 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
	}
	last := luminance(0)
	for i := 1; i <= 50; i++ {
		l := luminance(float64(i) / 50)
		if l >= last {
			t.Errorf("%v is as light as what is less", float64(i)/50)
		}
		last = l
	}
}

// Law: no two curves of a picture have the same style, and none of the first eight the marker or the
// dashes of another.
func TestLooksDiffer(t *testing.T) {
	for name, style := range styles {
		seen := map[string]bool{}
		for i := range 50 {
			c := style.curve(i)
			looks := []string{fmt.Sprint(c.color, c.marker, c.dashes)}
			if i < len(markers) {
				looks = append(looks, fmt.Sprint(c.marker), fmt.Sprint("dashes ", c.dashes))
			}
			for _, l := range looks {
				if seen[l] {
					t.Fatalf("%s: curve %d looks like another: %s", name, i+1, l)
				}
				seen[l] = true
			}
		}
	}
}

// Law: a style for print has no colour.
func TestPrintIsGrey(t *testing.T) {
	all := slices.Concat(Print.hues, Print.heat, []color.NRGBA{Print.best, Print.recommended, ink, faint, gridColor, white})
	for i := range 101 {
		all = append(all, Print.heatColor(float64(i)/100))
	}
	for _, c := range all {
		if c.R != c.G || c.G != c.B {
			t.Errorf("%v is a colour", c)
		}
	}
}
