package plots

import (
	"bytes"
	"encoding/binary"
	"image/png"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/lockstorm/lockstorm/internal/sweep"
)

// wide returns a style of a width.
func wide(t *testing.T, width string) Style {
	t.Helper()
	s, err := Screen.Wide(width)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	svgSize  = regexp.MustCompile(`<svg role="img" width="([0-9.]+)pt" height="([0-9.]+)pt" viewBox="0 0 ([0-9.]+) ([0-9.]+)"`)
	mediaBox = regexp.MustCompile(`/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]`)
)

func numbersIn(t *testing.T, expression *regexp.Regexp, text []byte) (list []float64) {
	t.Helper()
	m := expression.FindSubmatch(text)
	if m == nil {
		t.Fatalf("no %v in the picture", expression)
	}
	for _, one := range m[1:] {
		v, err := strconv.ParseFloat(string(one), 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// Law: a width without a unit is an error that names the unit that fits.
func TestWidthWithoutUnit(t *testing.T) {
	for width, want := range map[string]string{"84": "did you mean 84mm?", "3.5": "did you mean 3.5in?", "7000": "want a length from 60 mm", "wide": "invalid width"} {
		if _, err := Screen.Wide(width); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", width, err, want)
		}
	}
}

// Law: a picture has the width that was asked for, in each format, and its small texts have 8 points
// on paper.
func TestWidthOnPaper(t *testing.T) {
	for width, mm := range map[string]float64{"85mm": 85, "180 mm": 180, "3.5in": 88.9, "column": 84, "page": 177} {
		points := mm / 25.4 * 72
		for name, c := range samples {
			style := wide(t, width)
			picture, err := Encode(c, SVG, style, made)
			if err != nil {
				t.Errorf("%s, %s: %v", name, width, err)
				continue
			}
			size := numbersIn(t, svgSize, picture)
			if math.Abs(size[0]-points) > 0.05 {
				t.Errorf("%s: the SVG of %s is %v points wide, want %v", name, width, size[0], points)
			}
			for i := range 2 {
				if text := textSize * size[i] / size[i+2]; math.Abs(text-8) > 0.01 {
					t.Errorf("%s: small texts of the SVG of %s have %v points", name, width, text)
				}
			}
			if name != "delays" {
				continue
			}
			page := numbersIn(t, mediaBox, saved(t, c, PDF, style, made))
			if math.Abs(page[0]-points) > 0.05 || math.Abs(page[1]-size[1]) > 0.05 {
				t.Errorf("the page of %s is %v, and the SVG %v", width, page, size[:2])
			}
			bits := saved(t, c, PNG, style, made)
			config, err := png.DecodeConfig(bytes.NewReader(bits))
			if err != nil || math.Abs(float64(config.Width)-mm/25.4*300) > 2 {
				t.Errorf("the PNG of %s is %d pixels wide (%v)", width, config.Width, err)
			}
			at := bytes.Index(bits, []byte("pHYs"))
			if at < 0 || binary.BigEndian.Uint32(bits[at+4:]) != 11811 { // 300 / 0.0254 m
				t.Errorf("the PNG of %s does not say how many pixels a metre has", width)
			}
		}
	}
}

// Law: the figures of all committed sweeps fit into a column and a page: no text of theirs is cut.
func TestCommittedFiguresFitIntoAColumn(t *testing.T) {
	journals, err := filepath.Glob(filepath.Join("..", "..", "..", "results", "reference", "*", sweep.OutcomesFile))
	if err != nil || len(journals) < 5 {
		t.Fatalf("%d sweeps: this test looks in the wrong place (%v)", len(journals), err)
	}
	for _, j := range journals {
		r, err := sweep.Load(filepath.Dir(j))
		if err != nil {
			t.Fatal(err)
		}
		pictures, err := Of(r, Say{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pictures {
			for _, width := range []string{"column", "page"} {
				f, err := p.Chart.figure(Screen)
				if err != nil {
					t.Fatal(err)
				}
				size := wide(t, width).size(f)
				text, err := f.textSVG(size.width, size.height)
				if err != nil {
					t.Errorf("%s, %s: %v", p.Name, width, err)
				}
				for _, one := range texts(t, string(text)) {
					if strings.HasSuffix(one, "…") {
						t.Errorf("%s, %s: %q is cut", p.Name, width, one)
					}
				}
			}
		}
	}
}

// Law: labels of the axis below never touch, however narrow it is.
func TestLabelsBelowDoNotTouch(t *testing.T) {
	for _, a := range []Axis{{From: 0, To: 0.14}, {From: 10_000, To: 90_000}, {From: 1e-6, To: 1, Log: true}} {
		s, err := a.scaleOf(nil)
		if err != nil {
			t.Fatal(err)
		}
		for width := vg.Length(60); width < 700; width += 10 {
			ticks := s.ticksIn(width)
			if !s.haveRoom(ticks, width) {
				t.Errorf("the labels of %v touch on %v points", a, width)
			}
			if width > 500 && labelled(ticks) < 4 {
				t.Errorf("%v has %d labels on %v points", a, labelled(ticks), width)
			}
		}
	}
}

func TestWidthsThatDoNotFit(t *testing.T) {
	for _, width := range []string{"", "mm", "85cm", "59mm", "501mm", "-85mm", "NaNmm", "Infmm", "both"} {
		if _, err := Screen.Wide(width); err == nil || !strings.Contains(err.Error(), "want column (84 mm), page (177 mm), or a length from 60 mm to 500 mm") {
			t.Errorf("%q: %v", width, err)
		}
	}
}
