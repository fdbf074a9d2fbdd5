package picture

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/plotter"

	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// quantity is what a panel shows of a point.
type quantity struct {
	name      string
	share     bool // from 0 to 1
	predicted bool // by the formula

	// of returns the value, its interval, and whether it is known.
	of func(sweep.Measured) (y, low, high float64, known bool)
}

// quantities are those of a sweep. The second and third are drawn only if there is no formula,
// because then the costs are what the sweep shows.
var quantities = []quantity{
	{"share of violated runs", true, true, func(m sweep.Measured) (y, low, high float64, known bool) {
		low, high = m.Interval()
		return m.Rate().Share(), low, high, m.Rate().N > 0
	}},
	{"availability", true, false, func(m sweep.Measured) (y, low, high float64, known bool) {
		y = m.Measurements.Availability
		return y, y, y, m.Measurements.Wanted > 0
	}},
	{"longest outage of a run, median [s]", false, false, func(m sweep.Measured) (y, low, high float64, known bool) {
		y = m.Measurements.MedianOutage.Seconds()
		return y, y, y, m.Measurements.Wanted > 0
	}},
}

// mostCurves is up to how many curves share a panel. More are divided by their names.
const mostCurves = 7

// Sweep draws the results of a sweep: the points over the first parameter, with 95 % intervals and
// the formula, or as a map where the second parameter changes along a curve; and the boundaries
// against those of the formula.
func Sweep(r sweep.Results) (Picture, error) {
	picture := Picture{Title: textfmt.Sentence(r.Summary)}
	shown := quantities
	if slices.ContainsFunc(r.Points(), func(o sweep.Outcome) bool { return o.Point.Predicted != nil }) {
		shown = quantities[:1]
		picture.Title += ": measured with 95 % intervals, and lines by the formula"
	}
	var lines []sweep.Curve
	for _, c := range sweep.Curves(r.Points()) {
		if !isMap(c) {
			lines = append(lines, c)
			continue
		}
		p, err := mapPanel(r, c)
		if err != nil {
			return picture, err
		}
		picture.panels = append(picture.panels, p)
	}
	if len(picture.panels) > 0 {
		picture.Title = textfmt.Sentence(r.Summary) + ": dark where runs violate the property, dots where most do by the formula"
	}
	for _, q := range shown {
		for _, family := range families(lines) {
			p, err := q.panel(r, family)
			if err != nil {
				return picture, err
			}
			picture.panels = append(picture.panels, p)
		}
	}
	if b := r.Boundaries(); len(b) > 0 {
		p, err := boundaryPanel(r, b)
		if err != nil {
			return picture, err
		}
		picture.panels = append(picture.panels, p)
	}
	if len(picture.panels) == 0 {
		picture.panels = append(picture.panels, panel("", r.Params[0].Head(), quantities[0].name))
	}
	return picture, nil
}

// isMap reports whether the second parameter changes along a curve.
func isMap(c sweep.Curve) bool {
	return len(c.Outcomes[0].At) > 1 && slices.ContainsFunc(c.Outcomes, func(o sweep.Outcome) bool { return o.At[1] != c.Outcomes[0].At[1] })
}

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// families divides curves into panels: many are together only if their names differ in nothing
// but numbers.
func families(all []sweep.Curve) (families [][]sweep.Curve) {
	if len(all) <= mostCurves {
		if len(all) > 0 {
			families = append(families, all)
		}
		return families
	}
	name := func(c sweep.Curve) string { return number.ReplaceAllString(c.Name, "n") }
	for _, c := range all {
		i := slices.IndexFunc(families, func(f []sweep.Curve) bool { return name(f[0]) == name(c) })
		if i < 0 {
			i, families = len(families), append(families, nil)
		}
		families[i] = append(families[i], c)
	}
	return families
}

// panel draws a quantity of some curves.
func (q quantity) panel(r sweep.Results, all []sweep.Curve) (*plot.Plot, error) {
	common := commonStart(all)
	p := panel(strings.TrimSuffix(common, separator), r.Params[0].Head(), q.name)
	for i, c := range all {
		s := series{name: strings.TrimPrefix(c.Name, common)}
		slices.SortStableFunc(c.Outcomes, func(a, b sweep.Outcome) int { return cmp.Compare(a.At[0], b.At[0]) })
		for _, o := range c.Outcomes {
			x := o.At[0]
			if y, low, high, known := q.of(*o.Point); known {
				s.points = append(s.points, plotter.XY{X: x, Y: y})
				s.errors = append(s.errors, struct{ Low, High float64 }{y - low, high - y})
			}
			if q.predicted && o.Point.Predicted != nil {
				s.formula = append(s.formula, plotter.XY{X: x, Y: *o.Point.Predicted})
			}
		}
		if !q.predicted {
			s.errors, s.formula = nil, s.points
		}
		if err := add(p, i, s); err != nil {
			return nil, err
		}
	}
	if q.share {
		p.Y.Min, p.Y.Max = 0, 1
	}
	legendAbove(p)
	return p, nil
}

// separator separates the attributes in the name of a curve.
const separator = ", "

// commonStart returns the attributes with which the names of all curves begin, and the whole name
// of a single one.
func commonStart(all []sweep.Curve) string {
	if len(all) == 1 {
		return all[0].Name
	}
	common := ""
	for {
		attribute, _, more := strings.Cut(strings.TrimPrefix(all[0].Name, common), separator)
		next := common + attribute + separator
		if !more || slices.ContainsFunc(all, func(c sweep.Curve) bool { return !strings.HasPrefix(c.Name, next) }) {
			return common
		}
		common = next
	}
}

// grid is the shares of violated runs over two parameters; NaN: not measured.
type grid struct {
	xs, ys []float64
	at     map[plotter.XY]float64
}

func (g grid) Dims() (c, r int) { return len(g.xs), len(g.ys) }
func (g grid) X(c int) float64  { return g.xs[c] }
func (g grid) Y(r int) float64  { return g.ys[r] }
func (g grid) Min() float64     { return 0 }
func (g grid) Max() float64     { return 1 }
func (g grid) Z(c, r int) float64 {
	if share, known := g.at[plotter.XY{X: g.xs[c], Y: g.ys[r]}]; known {
		return share
	}
	return math.NaN()
}

// mapPanel draws the shares of violated runs over two parameters.
func mapPanel(r sweep.Results, c sweep.Curve) (*plot.Plot, error) {
	g, predicted := grid{at: map[plotter.XY]float64{}}, plotter.XYs(nil)
	for _, o := range c.Outcomes {
		at := plotter.XY{X: o.At[0], Y: o.At[1]}
		g.xs, g.ys = append(g.xs, at.X), append(g.ys, at.Y)
		if o.Point.Rate().N > 0 {
			g.at[at] = o.Point.Rate().Share()
		}
		if v := o.Point.Predicted; v != nil && *v > 0.5 {
			predicted = append(predicted, at)
		}
	}
	slices.Sort(g.xs)
	slices.Sort(g.ys)
	g.xs, g.ys = slices.Compact(g.xs), slices.Compact(g.ys)
	colors, err := brewer.GetPalette(brewer.TypeSequential, "Blues", 9)
	if err != nil {
		return nil, err
	}
	p := panel(c.Name, r.Params[0].Head(), r.Params[1].Head())
	p.Add(plotter.NewHeatMap(g, colors))
	if len(predicted) > 0 {
		dots, err := plotter.NewScatter(predicted)
		if err != nil {
			return nil, err
		}
		dots.Radius = 1
		p.Add(dots)
	}
	return p, nil
}

// boundaryPanel draws the measured boundaries, and those of rules of thumb, against the formula's.
// A boundary without both sides is left out.
func boundaryPanel(r sweep.Results, all []sweep.Outcome) (*plot.Plot, error) {
	x := r.Params[0].Head()
	p := panel("", x+", boundary by the formula", x+", boundary measured, or by a rule of thumb")
	measured, rules := map[string]series{}, map[string]series{}
	var line plotter.XYs
	for _, o := range all {
		b := o.Boundary
		if b.LastViolated == nil || b.FirstHolding == nil {
			continue
		}
		formula, half := b.Formula.X, (*b.FirstHolding-*b.LastViolated)/2
		s := measured[o.Curve]
		s.points = append(s.points, plotter.XY{X: formula, Y: *b.LastViolated + half})
		s.errors = append(s.errors, struct{ Low, High float64 }{half, half})
		measured[o.Curve] = s
		for _, rule := range b.Rules {
			s := rules[rule.Name]
			s.points = append(s.points, plotter.XY{X: formula, Y: rule.X})
			rules[rule.Name] = s
		}
		line = append(line, plotter.XY{X: formula, Y: formula})
	}
	slices.SortFunc(line, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	list := []series{{name: "as the formula says; below it a rule fails", formula: line}}
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		s := measured[name]
		list = append(list, series{name: "measured: " + name, points: s.points, errors: s.errors})
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		list = append(list, series{name: "rule: " + name, points: rules[name].points})
	}
	for i, s := range list {
		if err := add(p, i, s); err != nil {
			return nil, err
		}
	}
	legendAbove(p)
	return p, nil
}
