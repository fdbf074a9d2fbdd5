package plots

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A legend says in plain words what the names of stored curves abbreviate.
func TestNamesInPlainWords(t *testing.T) {
	for name, want := range map[string]string{
		"1 crash":                           "one node crashes",
		"3 crash":                           "three nodes crash",
		"aof-everysec, 1 lose power":        "AOF synced every second, one node loses power",
		"12 lose power":                     "12 nodes lose power",
		"plain, all nodes reached, n crash": "not extended, all nodes reached, by how many nodes crash",
		"lock.drift_factor=n.n":             "by lock.drift_factor",
		"lock.drift_factor=0.01":            "lock.drift_factor=0.01",
		"the nodes' clocks are fast":        "the nodes' clocks are fast",
	} {
		if got := inWords(name); got != want {
			t.Errorf("%q is %q in words, want %q", name, got, want)
		}
	}
}

// Points of two curves at the same x stand apart, by less than the distance to the next x. A curve
// that is covered by none is not moved.
func TestPointsStandApart(t *testing.T) {
	points := []Point{{2, 3, 2, 4}, {4, 3, 2, 4}, {6, 3, 2, 4}}
	c := Curves{X: Axis{Name: "x", To: 10}, Y: Axis{Name: "y", To: 10}, Curves: []Curve{
		{Name: "a", Points: points}, {Name: "b", Points: points}, {Name: "c", Points: []Point{{2, 9, 9, 9}, {3, 1, 1, 1}}},
	}}
	f, err := c.figure(Screen)
	if err != nil {
		t.Fatal(err)
	}
	canvas := draw.New(vgsvg.New(Width*pixel, Height*pixel))
	apart := c.apart()
	shift := func(i int) float64 { return float64(apart.of(i)(canvas, f, 2)) }
	if left, right := shift(0), shift(1); right-left < 2*float64(radius) || left != -right {
		t.Errorf("two curves are moved by %v and %v", left, right)
	}
	if shift(2) != 0 {
		t.Errorf("a curve by itself is moved by %v", shift(2))
	}
	a, b := bars(t, c, "#0072B2"), bars(t, c, "#D55E00")
	if len(a) != 3 || len(b) != 3 || slices.ContainsFunc(a, func(x float64) bool { return slices.Contains(b, x) }) {
		t.Errorf("the intervals of one curve are at %v, and those of the other at %v", a, b)
	}
}

// bars returns where the intervals of a colour are.
func bars(t *testing.T, c Chart, colour string) (xs []float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`<path d="M([0-9.]+),[0-9.]+L([0-9.]+),[^>]*`+colour).FindAllStringSubmatch(svg(t, c), -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if m[1] == m[2] { // upright
			xs = append(xs, x)
		}
	}
	return xs
}

// A text that has no room is cut, and says so.
func TestTextsThatHaveNoRoom(t *testing.T) {
	long := strings.Repeat("m", 10_000)
	c := delays(400, 31)
	c.Title, c.X.Name, c.Y.Name, c.Curves[0].Name = "x "+long, long, long, long
	for _, s := range texts(t, svg(t, c)) {
		if n := len([]rune(s)); n > 150 {
			t.Errorf("a text of %d letters is drawn", n)
		}
	}
	if text := svg(t, c); !strings.Contains(text, "m…") {
		t.Error("nothing says that the name is cut")
	}
}
