package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/internal/sweep"
)

// Picture is a chart with the name of its files.
type Picture struct {
	Name  string
	Chart Chart
}

// Say has what the results of a sweep lack for their pictures.
type Say struct {
	// Show lists the quantities to plot, each in pictures of its own; empty: [Share].
	Show []Quantity

	// Marks are drawn in all curves over the first parameter.
	Marks []Mark

	// Line is drawn over the map of a curve: the second parameter as a function of the first.
	// It may be nil, or return nil. LineName is its name in the legend.
	Line     func(curve string) func(x float64) (y float64)
	LineName string

	// Formula states the formula of a curve of points or boundaries, in words. It may be nil, or
	// return "". A picture states those of its curves.
	Formula func(curve string) string
}

// Of returns the pictures of results: those of the points, and those of the boundaries.
//
// There is a map for each curve along which two parameters change, and curves over the first
// parameter otherwise. Curves whose names differ only in numbers, as "all nodes, 1 crash" and
// "all nodes, 2 crash", share a picture; then those whose names are equal up to the first
// comma; then the rest.
func Of(r sweep.Results, say Say) ([]Picture, error) {
	if len(r.Params) == 0 {
		return nil, fmt.Errorf("sweep %s has no parameters", r.Sweep)
	}
	var pictures []Picture
	for _, q := range say.show() {
		some, err := pointsOf(r, q, say)
		if err != nil {
			return nil, fmt.Errorf("sweep %s: %w", r.Sweep, err)
		}
		pictures = append(pictures, some...)
	}
	some, err := boundariesOf(r, say)
	if err != nil {
		return nil, fmt.Errorf("sweep %s: %w", r.Sweep, err)
	}
	return nameFiles(r.Sweep, append(pictures, some...)), nil
}

func (s Say) show() []Quantity {
	if len(s.Show) == 0 {
		return []Quantity{Share}
	}
	return s.Show
}

// formula states the formulas of curves, each once.
func (s Say) formula(curves ...string) string {
	if s.Formula == nil {
		return ""
	}
	var all []string
	for _, c := range curves {
		if text := s.Formula(c); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// pointsOf returns the pictures of a quantity at the points.
func pointsOf(r sweep.Results, q Quantity, say Say) ([]Picture, error) {
	var pictures []Picture
	curves := groupBy(r.Points(), func(o sweep.Outcome) string { return o.Curve })
	var lines []string
	for _, g := range curves {
		area, err := isMap(r, g.members)
		if err == nil && area {
			var h HeatMap
			h, err = mapOf(r, g, q, say)
			pictures = append(pictures, Picture{q.Name + " " + g.name, h})
		}
		if err != nil {
			return nil, fmt.Errorf("curve %q: %w", g.name, err)
		}
		if !area {
			lines = append(lines, g.name)
		}
	}
	for _, f := range groupBy(lines, pictureOf(lines)) {
		c := Curves{Title: title(r, f.name), X: axis(r.Params[0]), Y: q.Axis, Interval: q.Interval, Marks: say.Marks}
		var predicted []string
		for _, g := range curves {
			if !slices.Contains(f.members, g.name) {
				continue
			}
			one := q.curve(g)
			if len(one.Formula) > 0 {
				predicted = append(predicted, g.name)
			}
			c.Curves = append(c.Curves, one)
		}
		c.Formula = say.formula(predicted...)
		trimCommonPrefix(c.Curves)
		for i := range c.Curves {
			c.Curves[i].Name = inWords(c.Curves[i].Name)
		}
		pictures = append(pictures, Picture{q.Name + " " + f.name, c})
	}
	if len(pictures) == 1 {
		pictures[0].Name = q.Name
	}
	return pictures, nil
}

// group is what belongs together, in its original order.
type group[T any] struct {
	name    string
	members []T
}

// groupBy returns groups in the order of their first members.
func groupBy[T any](all []T, name func(T) string) (groups []group[T]) {
	for _, one := range all {
		n := name(one)
		i := slices.IndexFunc(groups, func(g group[T]) bool { return g.name == n })
		if i < 0 {
			i, groups = len(groups), append(groups, group[T]{name: n})
		}
		groups[i].members = append(groups[i].members, one)
	}
	return groups
}

// isMap reports whether a second parameter changes along a curve. A picture has no place for a
// third.
func isMap(r sweep.Results, curve []sweep.Outcome) (bool, error) {
	changing := false
	for _, o := range curve {
		if len(o.At) != len(r.Params) {
			return false, fmt.Errorf("a point has %d values for %d parameters", len(o.At), len(r.Params))
		}
		for i, v := range o.At[1:] {
			if v == curve[0].At[i+1] {
				continue
			}
			if i > 0 {
				return false, fmt.Errorf("%s changes along it, and a picture shows the first two parameters", r.Params[i+1].Name)
			}
			changing = true
		}
	}
	return changing, nil
}

// axis returns the axis of a parameter.
func axis(p sweep.Param) Axis { return Axis{Name: strings.ReplaceAll(p.Name, "_", " "), Unit: p.Unit} }

// title returns the title of a picture: what the sweep shows, and which part.
func title(r sweep.Results, part string) string {
	text := strings.TrimSuffix(cmp.Or(r.Summary, r.Sweep)+": "+inWords(part), ": ")
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// lineCorners is the number of corners of a line over a map.
const lineCorners = 201

// mapOf returns the map of a curve.
func mapOf(r sweep.Results, g group[sweep.Outcome], q Quantity, say Say) (HeatMap, error) {
	h := HeatMap{
		Title: title(r, g.name), X: axis(r.Params[0]), Y: axis(r.Params[1]),
		Value: q.Axis.label(), Zero: q.Zero, LineName: say.LineName,
	}
	for _, o := range g.members {
		h.Xs, h.Ys = append(h.Xs, o.At[0]), append(h.Ys, o.At[1])
	}
	h.Xs, h.Ys = distinct(h.Xs), distinct(h.Ys)
	for range h.Ys {
		h.Values = append(h.Values, slices.Repeat([]float64{math.NaN()}, len(h.Xs)))
		h.Runs = append(h.Runs, make([]int, len(h.Xs)))
	}
	taken := map[[2]float64]bool{}
	for _, o := range g.members {
		place := [2]float64{o.At[0], o.At[1]}
		if taken[place] {
			return h, fmt.Errorf("two points at %v", o.At)
		}
		taken[place] = true
		if v, known := q.Of(*o.Point); known {
			row, column := slices.Index(h.Ys, o.At[1]), slices.Index(h.Xs, o.At[0])
			h.Values[row][column], h.Runs[row][column] = v.Y, q.runs(o)
		}
	}
	if say.Line != nil {
		h.Line = corners(say.Line(g.name), h.Xs)
	}
	return h, nil
}

// corners returns the corners of a line over a map; nil without a function.
func corners(line func(float64) float64, xs []float64) (list []XY) {
	if line == nil {
		return nil
	}
	from, to := xs[0], xs[len(xs)-1]
	for i := range lineCorners {
		x := from + (to-from)*float64(i)/(lineCorners-1)
		list = append(list, XY{x, line(x)})
	}
	return list
}

// distinct returns the distinct values, ascending.
func distinct(values []float64) []float64 {
	slices.Sort(values)
	return slices.Compact(values)
}

// pictureOf returns a function from a curve to its picture: that of all curves whose names
// differ only in numbers, if there are others; else that of all whose names are equal up to
// the first comma, if there are others; else that of the rest.
func pictureOf(curves []string) func(curve string) string {
	return func(curve string) string {
		for _, family := range []func(string) string{withoutNumbers, firstAttribute} {
			others := func(other string) bool { return other != curve && family(other) == family(curve) }
			if slices.ContainsFunc(curves, others) {
				return family(curve)
			}
		}
		return ""
	}
}

// attribute separates the attributes in a curve's name.
const attribute = ", "

func firstAttribute(name string) string {
	first, _, _ := strings.Cut(name, attribute)
	return first
}

// withoutNumbers replaces every number with n.
func withoutNumbers(name string) string {
	var b strings.Builder
	inside := false
	for _, r := range name {
		digit := unicode.IsDigit(r)
		if !digit {
			b.WriteRune(r)
		} else if !inside {
			b.WriteRune('n')
		}
		inside = digit
	}
	return b.String()
}

// trimCommonPrefix removes the common start of the names of curves, which the title has.
func trimCommonPrefix(curves []Curve) {
	for {
		head, _, found := strings.Cut(curves[0].Name, attribute)
		head += attribute
		if !found || len(curves) == 1 || slices.ContainsFunc(curves, func(c Curve) bool { return !strings.HasPrefix(c.Name, head) }) {
			return
		}
		for i := range curves {
			curves[i].Name = strings.TrimPrefix(curves[i].Name, head)
		}
	}
}

// nameFiles gives every picture the name of its files: the sweep's, and what the picture is
// about.
func nameFiles(sweep string, pictures []Picture) []Picture {
	taken := map[string]int{}
	for i, p := range pictures {
		name := strings.TrimSuffix(sweep+"-"+slug(p.Name), "-")
		taken[name]++
		if n := taken[name]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		pictures[i].Name = name
	}
	return pictures
}

// slug returns a text reduced to what file names can have everywhere.
func slug(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "'", "")
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}

// Quantity is a quantity that can be plotted over the points of a sweep.
type Quantity struct {
	Name string // in file names; empty for the sweep's main quantity
	Axis Axis

	// Interval and Zero are legend texts: see [Curves] and [HeatMap].
	Interval, Zero string

	// Of returns the value with its interval, without X, and whether it is known.
	Of func(sweep.Measured) (p Point, known bool)

	// Predicted says that the sweep's formula is for this quantity.
	Predicted bool

	// Decided says that only runs that decide the property count.
	Decided bool
}

// runs returns how many runs a value is of.
func (q Quantity) runs(o sweep.Outcome) int {
	if q.Decided {
		return o.Point.Rate().N
	}
	return o.Runs - o.Point.Slipped
}

// Share is the probability that a run violates the property of the sweep.
var Share = Quantity{
	Axis:     Axis{Name: "probability of a violation", From: 0, To: 1},
	Interval: "95 % interval (Wilson)",
	Zero:     "no run violates it",
	Of: func(m sweep.Measured) (Point, bool) {
		lo, hi := m.Interval()
		return Point{Y: m.Rate().Share(), Lo: lo, Hi: hi}, m.Rate().N > 0
	},
	Predicted: true,
	Decided:   true,
}

// Availability is the share of the time with a holder, among the time in which somebody wanted
// the resource. It has no interval.
var Availability = Quantity{
	Name: "availability",
	Axis: Axis{Name: "availability", From: 0, To: 1},
	Zero: "never available",
	Of: func(m sweep.Measured) (Point, bool) {
		v := m.Measurements.Availability
		return Point{Y: v, Lo: v, Hi: v}, m.Measurements.Wanted > 0
	},
}

// Outage is the median over all runs of the longest outage.
var Outage = Quantity{
	Name: "outage",
	Axis: Axis{Name: "longest outage of a run, median", Unit: "s"},
	Of: func(m sweep.Measured) (Point, bool) {
		v := m.Measurements.MedianOutage.Seconds()
		return Point{Y: v, Lo: v, Hi: v}, m.Measurements.Wanted > 0
	},
}

// curve returns a curve of its points, from left to right.
func (q Quantity) curve(g group[sweep.Outcome]) Curve {
	c := Curve{Name: g.name}
	sorted := slices.SortedStableFunc(slices.Values(g.members), func(a, b sweep.Outcome) int { return cmp.Compare(a.At[0], b.At[0]) })
	for _, o := range sorted {
		if p, known := q.Of(*o.Point); known {
			p.X = o.At[0]
			c.Points, c.Runs = append(c.Points, p), append(c.Runs, q.runs(o))
		}
		if q.Predicted && o.Point.Predicted != nil {
			c.Formula = append(c.Formula, XY{o.At[0], *o.Point.Predicted})
		}
	}
	return c
}
