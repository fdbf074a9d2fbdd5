package plots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// footOf returns the lower lines of a picture: those that no legend and axis has.
func footOf(t *testing.T, c Chart) string {
	t.Helper()
	all := texts(t, svg(t, c))
	from := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "n = ") || strings.HasPrefix(s, "Points are") })
	if from < 0 {
		return ""
	}
	to := slices.IndexFunc(all[from:], func(s string) bool { return strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "run.") })
	return strings.Join(all[from:from+to+1], " ")
}

// Law: the foot of a figure says how many runs a point has, and by how much points stand beside their
// place.
func TestFoot(t *testing.T) {
	points := []Point{{2, 3, 2, 4}, {4, 3, 2, 4}, {6, 3, 2, 4}}
	one := Curve{Name: "a", Points: points, Runs: []int{400, 40, 400}}
	x, y := Axis{Name: "x", Unit: "s", To: 10}, Axis{Name: "y", To: 10}
	alone := Curves{X: x, Y: y, Curves: []Curve{one}}
	both := Curves{X: x, Y: y, Curves: []Curve{one, {Name: "b", Points: points}}}
	unknown := Curves{X: x, Y: y, Curves: []Curve{{Name: "a", Points: points}}}
	for _, c := range []struct {
		chart Chart
		want  string
	}{
		{alone, "n = 40 to 400 runs per point."},
		{both, "n = 40 to 400 runs per point. Points are moved sideways by up to 0.059 s, so that they do not cover each other."},
		{unknown, ""},
		{Curves{X: x, Y: y, Curves: []Curve{one}, RunsOf: perTry}, "n = 40 to 400 runs at each value that the search tried."},
		{HeatMap{X: x, Y: y, Xs: []float64{0, 1}, Ys: []float64{5}, Values: [][]float64{{1, 0}}, Runs: [][]int{{7, 7}}}, "n = 7 runs per point."},
	} {
		if got := footOf(t, c.chart); got != c.want {
			t.Errorf("the foot is %q, want %q", got, c.want)
		}
	}
	both.X.Log, both.X.To, both.X.From = true, 10, 1
	if got := footOf(t, both); !strings.Contains(got, " % of the axis, so that") {
		t.Errorf("the foot of a logarithmic axis is %q", got)
	}
	one.Runs = one.Runs[1:]
	if _, err := (Curves{X: x, Y: y, Curves: []Curve{one}}).figure(Screen); err == nil {
		t.Error("a curve of three points with two numbers of runs is drawn")
	}
}

// Law: points stand as far from their place as the foot says, rounded up.
func TestFootIsABound(t *testing.T) {
	points := []Point{{2, 3, 2, 4}, {6, 3, 2, 4}}
	c := Curves{X: Axis{Name: "x", Unit: "s", To: 10}, Y: Axis{Name: "y", To: 10}, Curves: []Curve{{Name: "a", Points: points}, {Name: "b", Points: points}}}
	a, b := bars(t, c, "#0072B2"), bars(t, c, "#D55E00")
	if len(a) != 2 || len(b) != 2 {
		t.Fatalf("intervals at %v and %v", a, b)
	}
	second := ((a[1] + b[1]) - (a[0] + b[0])) / 2 / 4 // their places are 4 s apart
	var moved float64
	if _, err := fmt.Sscanf(footOf(t, c), "Points are moved sideways by up to %g s", &moved); err != nil {
		t.Fatal(err)
	}
	if by := (b[0] - a[0]) / 2 / second; by > moved || by < moved*0.9 {
		t.Errorf("the points stand %v s beside their place, and the foot says %v", by, moved)
	}
	for v, want := range map[float64]string{0.0123: "0.013", 0.012: "0.012", 27e-6: "0.000027", 3.21: "3.3", 101: "110", 99.5: "100", 1: "1.0"} {
		if got := roundedUp(v); got != want {
			t.Errorf("%v is rounded up to %s, want %s", v, got, want)
		}
	}
}
