package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// samples are charts of all kinds, usual and unusual.
var samples = map[string]Chart{
	"delays":    delays(400, 31),
	"bands":     delays(400, 61),
	"drift":     drifts(false),
	"drift-log": drifts(true),
	"choices":   choices(),
	"bounds":    bounds(),
	"one point": Curves{Title: "one", X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Curves: []Curve{{Name: "a", Points: []Point{{3, 0.5, 0.5, 0.5}}}}},
	"at zero":   Curves{X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Curves: []Curve{{Name: "a", Points: []Point{{}}}}},
	"zero low on a logarithmic axis": Curves{X: Axis{Name: "x", Log: true}, Y: Axis{Name: "y", Log: true},
		Curves: []Curve{{Name: "a", Points: []Point{{1, 1e-3, 0, 2e-3}, {1e5, 1e-9, 0, 1e-8}}}}},
	"a formula alone": Curves{X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Curves: []Curve{{Name: "f", Formula: []XY{{-1, -1e9}, {1, 1e9}}}}},
	"one cell":        HeatMap{X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Xs: []float64{0}, Ys: []float64{5}, Values: [][]float64{{1}}},
	"one setting":     Front{X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Settings: []Setting{{X: 1, Y: 1, Label: "alone", Recommended: true}}},
	"all alike":       Front{X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Settings: slices.Repeat([]Setting{{X: 1, Y: 1, Label: "alike", Best: true}}, 30)},
}

// svg draws a chart with its texts as texts.
func svg(t *testing.T, c Chart) string {
	t.Helper()
	f, err := c.figure(Screen)
	if err == nil {
		err = f.check()
	}
	var text []byte
	if err == nil {
		text, err = f.textSVG(pixels(Width), pixels(Height))
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// texts returns the texts of a picture. It fails if that is not XML.
func texts(t *testing.T, svg string) (list []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	inside := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				list = append(list, string(token))
			}
		}
	}
}

// made is what the pictures of tests are about.
var made = About{Formula: "1 − D/V", Made: "delay: a <test> & more; 400 runs", Command: "lockstorm sweep delay --runs 400", Seed: 7, Program: "v1.2.0, revision 3f2a", Drawer: "v1.3.0"}

// Law: Save writes a file for each format, with the same bytes every time, in both styles. Pictures
// have the stated size.
func TestSave(t *testing.T) {
	for _, name := range []string{"delays", "drift-log", "choices"} {
		for style, of := range styles {
			before := map[string][]byte{}
			for range 2 {
				dir := filepath.Join(t.TempDir(), "made")
				if err := Save(dir, "it", samples[name], Formats(), of, made); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				files, err := os.ReadDir(dir)
				if err != nil || len(files) != len(Formats()) {
					t.Fatalf("%s: %v, %v; want %v", name, files, err, Formats())
				}
				for _, file := range files {
					text, err := os.ReadFile(filepath.Join(dir, file.Name()))
					if err != nil {
						t.Fatal(err)
					}
					if before[file.Name()] != nil && !bytes.Equal(before[file.Name()], text) {
						t.Errorf("%s, %s: %s is another the second time", name, style, file.Name())
					}
					before[file.Name()] = text
				}
			}
			config, err := png.DecodeConfig(bytes.NewReader(before["it.png"]))
			if err != nil || config.Width != Width || config.Height != Height {
				t.Errorf("%s: the PNG is %d by %d (%v)", name, config.Width, config.Height, err)
			}
		}
	}
}

var (
	path  = regexp.MustCompile(`<path d="([^"]*)"`)
	place = regexp.MustCompile(`[ML](-?[0-9.e+-]+),(-?[0-9.e+-]+)`)
)

// Law: everything is drawn inside the picture, at finite coordinates, and the same when
// repeated.
func TestInsideThePicture(t *testing.T) {
	for name, c := range samples {
		text := svg(t, c)
		if svg(t, c) != text {
			t.Errorf("%s: the picture is another the second time", name)
		}
		texts(t, text)
		for _, no := range []string{"NaN", "Inf"} {
			if strings.Contains(text, no) {
				t.Errorf("%s: there is %s in the picture", name, no)
			}
		}
		for _, p := range path.FindAllStringSubmatch(text, -1) {
			for _, at := range place.FindAllStringSubmatch(p[1], -1) {
				x, errX := strconv.ParseFloat(at[1], 64)
				y, errY := strconv.ParseFloat(at[2], 64)
				if errX != nil || errY != nil || x < 0 || y < 0 || x > Width*0.75 || y > Height*0.75 {
					t.Errorf("%s: a path goes through %s", name, at[0])
				}
			}
		}
	}
}

// Law: every text is in the picture, and none is taken for markup.
func TestAllTexts(t *testing.T) {
	odd := `<b>"a" & 'b'</b><!--`
	c := delays(400, 31)
	c.Title, c.X.Name, c.Y.Name, c.Curves[0].Name, c.Marks[0].Label = odd+"1", odd+"2", odd+"3", odd+"4", odd+"5"
	h := drifts(false)
	h.Title, h.Value, h.LineName, h.Zero = odd+"1", odd+"2", odd+"3", odd+"4"
	f := choices()
	f.Settings[len(f.Settings)-4].Label = odd
	for _, of := range []struct {
		chart Chart
		want  []string
	}{
		{c, []string{odd + "1", odd + "2 [TTL]", odd + "3", odd + "4", odd + "5", "plain, AOF everysec", "extended, AOF always", "TTL", c.Interval, "symbols: measured; lines by formula", "0.2", "1.4"}},
		{h, []string{odd + "1", odd + "2", odd + "3", odd + "4", "not measured", "15000", "0.8"}},
		{f, []string{odd, "recommended", "Pareto front", "beaten by another", "TTL 500 ms", "TTL 30 s", "10000"}},
		{bounds(), []string{"a = 5 %, ρr = 0", "rule of thumb, TTL × (1 + d)", "symbols: measured; lines with symbols by formula"}},
	} {
		got := texts(t, svg(t, of.chart))
		for _, want := range of.want {
			if !slices.Contains(got, want) {
				t.Errorf("%T: %q is not there; there is %q", of.chart, want, got)
			}
		}
	}
}

// Law: a picture without a title has it in the metadata.
func TestUntitled(t *testing.T) {
	c := delays(400, 31)
	titled, bare := string(saved(t, c, SVG, Screen, made)), string(saved(t, c, SVG, Screen.Untitled(), made))
	label := `aria-label="` + wrap(textStyle(titleSize), c.Title, pixels(Width)-2*border)[0]
	if !strings.Contains(titled, label) || strings.Contains(bare, label) || !strings.Contains(bare, "<title>"+c.Title+"</title>") {
		t.Errorf("%q is drawn: %v, without a title: %v", label, strings.Contains(titled, label), strings.Contains(bare, label))
	}
}

// Law: a point is a marker, and an interval a line with two caps.
func TestAsManyMarksAsPoints(t *testing.T) {
	paths := func(points []Point) int {
		c := Curves{X: Axis{Name: "x", To: 10}, Y: Axis{Name: "y", To: 10}, Curves: []Curve{
			{Name: "a", Points: points, Scattered: true},
			{Name: "b", Points: []Point{{1, 1, 0, 2}}, Scattered: true}, // so that the legend stays
		}}
		return strings.Count(svg(t, c), "<path")
	}
	some := []Point{{2, 3, 3, 3}, {4, 4, 4, 4}}
	n := paths(some)
	if got := paths(append(some, Point{5, 5, 5, 5})); got != n+1 {
		t.Errorf("a point makes %d things", got-n)
	}
	if got := paths(append(some, Point{5, 5, 4, 7})); got != n+4 {
		t.Errorf("a point with its interval makes %d things", got-n)
	}
}

// Law: a value of a map is an area in its colour.
func TestAsManyCellsAsValues(t *testing.T) {
	h := HeatMap{X: Axis{Name: "x"}, Y: Axis{Name: "y"}, Xs: []float64{1, 2, 4}, Ys: []float64{1, 2},
		Values: [][]float64{{0.31, 0.62, math.NaN()}, {0.62, 0, 0.62}}}
	text := svg(t, h)
	for value, n := range map[float64]int{0.31: 1, 0.62: 3} {
		hue := Screen.heatColor(value)
		if got := strings.Count(text, fmt.Sprintf("#%02X%02X%02X", hue.R, hue.G, hue.B)); got != n {
			t.Errorf("%d areas are of %v; want %d", got, value, n)
		}
	}
}

// Law: a chart that cannot be drawn truthfully is an error, and existing files are unchanged.
func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x, y, log := Axis{Name: "x"}, Axis{Name: "y"}, Axis{Name: "y", Log: true}
	points := func(p ...Point) Curves { return Curves{X: x, Y: y, Curves: []Curve{{Name: "a", Points: p}}} }
	onLog := func(c Curves) Curves {
		c.Y = log
		return c
	}
	grid := func(xs, ys []float64, values ...[]float64) HeatMap {
		return HeatMap{X: x, Y: y, Xs: xs, Ys: ys, Values: values}
	}
	titled := func(title string) Curves {
		c := points(Point{})
		c.Title = title
		return c
	}
	many := points(Point{})
	for range 100 {
		many.Curves = append(many.Curves, Curve{Name: "a curve with a name that is rather long, and of no use", Points: []Point{{}}})
	}
	marked := points(Point{})
	marked.Marks = []Mark{{nan, "here"}}
	dir := t.TempDir()
	if err := Save(dir, "it", points(Point{}), []Format{SVG}, Screen, made); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "it.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		chart Chart
		want  string
	}{
		"no curves":            {Curves{}, ErrEmpty.Error()},
		"empty curves":         {points(), ErrEmpty.Error()},
		"an empty map":         {HeatMap{}, ErrEmpty.Error()},
		"no settings":          {Front{}, ErrEmpty.Error()},
		"NaN":                  {points(Point{}, Point{nan, 0, 0, 0}), `curve "a", point 2: NaN is not a finite number (axis "x")`},
		"infinite":             {points(Point{0, inf, inf, inf}), `+Inf is not a finite number (axis "y")`},
		"an infinite interval": {points(Point{0, 0, -inf, 0}), "the interval from -Inf to 0"},
		"outside the interval": {points(Point{0, 3, 1, 2}), "the interval from 1 to 2 does not contain 3"},
		"no interval":          {points(Point{0, 3, nan, nan}), "does not contain 3"},
		"too far apart":        {points(Point{-math.MaxFloat64, 0, 0, 0}, Point{math.MaxFloat64, 0, 0, 0}), "cannot be divided"},
		"too close together":   {points(Point{1, 0, 0, 0}, Point{math.Nextafter(1, 2), 0, 0, 0}), "cannot be divided"},
		"zero, logarithmic":    {onLog(points(Point{1, 0, 0, 0.1})), `0 is not positive, and the axis "y" is logarithmic`},
		"negative end":         {onLog(points(Point{1, 1, -1, 2})), "leaves the axis"},
		"a mark nowhere":       {marked, `mark "here": NaN`},
		"rows":                 {grid([]float64{1}, []float64{1, 2}, []float64{0}), "1 rows of values for 2 on"},
		"columns":              {grid([]float64{1, 2}, []float64{1}, []float64{0}), "row 1: 1 values for 2 on"},
		"above 1":              {grid([]float64{1}, []float64{1}, []float64{1.5}), "row 1, column 1: 1.5: want 0 to 1"},
		"not ascending":        {grid([]float64{2, 1}, []float64{1}, []float64{0, 0}), "do not ascend: 1 after 2"},
		"two recommended":      {Front{X: x, Y: y, Settings: []Setting{{Recommended: true}, {Recommended: true}}}, "2 settings are recommended"},
		"a setting nowhere":    {Front{X: x, Y: log, Settings: []Setting{{Label: "t"}}}, `setting 1 "t": 0 is not positive`},
		"a control character":  {titled("a\x00b"), "U+0000"},
		"two lines":            {titled("a\nb"), "U+000A"},
		"no UTF-8":             {titled("a\xffb"), "not UTF-8"},
		"no such letter":       {titled("10\u2079"), "U+2079"},
		"too much":             {many, "leave no room"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Save(dir, "it", of.chart, []Format{SVG}, Screen, made)
			if err == nil || !strings.Contains(err.Error(), of.want) {
				t.Errorf("%v; want %q", err, of.want)
			}
			if of.want == ErrEmpty.Error() && !errors.Is(err, ErrEmpty) {
				t.Errorf("%v is not ErrEmpty", err)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, "it.svg")); !bytes.Equal(before, after) {
				t.Error("the picture that was there has changed")
			}
		})
	}
	for _, name := range []string{"", ".", "..", "a/b", "/a"} {
		if err := Save(t.TempDir(), name, points(Point{}), []Format{SVG}, Screen, made); err == nil {
			t.Errorf("%q was a name", name)
		}
	}
}
