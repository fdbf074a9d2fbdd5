package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sweep/plots"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// DebatePictures returns a chart for each series whose values are numbers, with at least two of them
// among the results.
func DebatePictures(f results.Reference) ([]plots.Picture, error) {
	found, err := TalliesOf(f)
	if err != nil {
		return nil, err
	}
	var pictures []plots.Picture
	for _, s := range scenarios.AllSeries() {
		if c, ok := found.Curve(s).chart(); ok {
			pictures = append(pictures, plots.Picture{Name: "debate-" + s.Name, Chart: c})
		}
	}
	return pictures, nil
}

// chart returns the shares of violated runs over the values; ok: they are numbers of one unit.
func (c Curve) chart() (chart plots.Curves, ok bool) {
	axis, curve := plots.Axis{Name: c.Varied}, plots.Curve{Name: "measured"}
	type place struct {
		plots.Point
		runs int
	}
	var places []place
	for i, value := range c.Values {
		x, unit := quantity(value)
		if math.IsNaN(x) || i > 0 && unit != axis.Unit {
			return chart, false
		}
		axis.Unit = unit
		if rate := c.Tallies[i].Rate(c.Property); rate.N > 0 {
			low, high := rate.Wilson()
			places = append(places, place{plots.Point{X: x, Y: rate.Share(), Lo: low, Hi: high}, rate.N})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.X, b.X) })
	for _, p := range places {
		curve.Points, curve.Runs = append(curve.Points, p.Point), append(curve.Runs, p.runs)
	}
	y := plots.Share.Axis
	y.Name = fmt.Sprintf("share of runs that violate %s", c.Property.Title())
	return plots.Curves{Title: textfmt.Sentence(c.Summary), X: axis, Y: y, Curves: []plots.Curve{curve}, Interval: plots.Share.Interval}, len(curve.Points) > 1
}

// ReferenceAbout says how the pictures and tables of a debate or a comparison were made, by the name of
// the command.
func ReferenceAbout(f results.Reference, command string) plots.About {
	about := plots.About{Made: fmt.Sprintf("the %s on the %s backend, 95 %% intervals by Wilson", command, f.Backend), Program: runner.Program(f.Versions)}
	args := append([]string{command}, BackendArgs(f.Backend, f.Versions)...)
	if len(f.Rows) > 0 {
		r := f.Rows[0]
		about.Seed, args = r.First, append(args, "--seed", fmt.Sprint(r.First), "--runs", fmt.Sprint(r.Runs))
	}
	about.Command = textfmt.Command(append(args, "--out", "DIR")...)
	return about
}
