package picture

import (
	"cmp"
	"image/color"
	"maps"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Sweep draws the results of a sweep: the points over the first parameter, with 95 % intervals and
// the formula, or as a map where the second parameter changes along a curve; and the boundaries
// against those of the formula.
func Sweep(r sweep.Results) (Picture, error) {
	picture := Picture{Title: textfmt.Sentence(r.Summary)}
	shown := quantities
	predicted := slices.ContainsFunc(r.Points(), func(o sweep.Outcome) bool { return o.Point.Predicted != nil })
	if predicted {
		shown = quantities[:1]
	}
	var lines []sweep.Curve
	for _, c := range sweep.Curves(r.Points()) {
		if !isMap(c) {
			lines = append(lines, c)
		} else if err := picture.add(mapPanel(r, c)); err != nil {
			return picture, err
		}
	}
	if predicted && len(lines) > 0 {
		picture.Title += ": measured (marks, with 95 % intervals), and by the formula (lines)"
	}
	if r.Formula != "" {
		picture.Title += ": " + r.Formula
	}
	if len(picture.panels) > 0 {
		picture.Title += " (the darker, the more runs violate the property; circles: more than half by the formula)"
	}
	for _, q := range shown {
		for _, family := range families(lines) {
			if err := picture.add(q.panel(r, family)); err != nil {
				return picture, err
			}
		}
	}
	var err error
	if b := r.Boundaries(); len(b) > 0 {
		err = picture.add(boundaryPanel(r, b))
	} else if len(picture.panels) == 0 { // nothing is measured yet
		err = picture.add(panel("", r.Params[0].Head(), quantities[0].name), nil)
	}
	return picture, err
}

// isMap reports whether the second parameter changes along a curve.
func isMap(c sweep.Curve) bool {
	first := c.Outcomes[0].At
	return len(first) > 1 && slices.ContainsFunc(c.Outcomes, func(o sweep.Outcome) bool { return o.At[1] != first[1] })
}

// mostCurves is up to how many curves share a panel. More are divided: those are together whose names
// differ in nothing but numbers.
const mostCurves = 7

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// families divides curves into panels.
func families(all []sweep.Curve) (families [][]sweep.Curve) {
	family := func(c sweep.Curve) string {
		if len(all) <= mostCurves {
			return ""
		}
		return number.ReplaceAllString(c.Name, "n")
	}
	for _, c := range all {
		i := slices.IndexFunc(families, func(f []sweep.Curve) bool { return family(f[0]) == family(c) })
		if i < 0 {
			i, families = len(families), append(families, nil)
		}
		families[i] = append(families[i], c)
	}
	return families
}

// quantity is what a panel shows of a point.
type quantity struct {
	name      string
	share     bool // from 0 to 1
	predicted bool // by the formula

	// of returns the value, its interval, and whether it is known.
	of func(sweep.PointResult) (y, low, high float64, known bool)
}

// quantities are those of a sweep. The second and third are drawn only if there is no formula,
// because then the costs are what the sweep shows.
var quantities = []quantity{
	{"share of violated runs", true, true, func(m sweep.PointResult) (y, low, high float64, known bool) {
		low, high = m.Interval()
		return m.Rate().Share(), low, high, m.Rate().N > 0
	}},
	{"availability", true, false, func(m sweep.PointResult) (y, low, high float64, known bool) {
		y = m.Measurements.Availability
		return y, y, y, m.Measurements.Wanted > 0
	}},
	{"longest outage of a run, median [s]", false, false, func(m sweep.PointResult) (y, low, high float64, known bool) {
		y = m.Measurements.MedianOutage.Seconds()
		return y, y, y, m.Measurements.Wanted > 0
	}},
}

// panel draws a quantity of some curves.
func (q quantity) panel(r sweep.Results, all []sweep.Curve) (*plot.Plot, error) {
	p := panel("", r.Params[0].Head(), q.name)
	for i, c := range all {
		s := series{name: c.Name}
		slices.SortStableFunc(c.Outcomes, func(a, b sweep.Outcome) int { return cmp.Compare(a.At[0], b.At[0]) })
		for _, o := range c.Outcomes {
			if y, low, high, known := q.of(*o.Point); known {
				s.add(o.At[0], y, low, high)
			}
			if q.predicted && o.Point.Predicted != nil {
				s.line = append(s.line, plotter.XY{X: o.At[0], Y: *o.Point.Predicted})
			}
		}
		if !q.predicted {
			s.line = s.points
		}
		var formula series
		if q.predicted && len(all) == 1 && len(s.line) > 0 { // a curve of several has one colour with its formula
			s.name, formula = s.name+": measured, 95 % interval", series{name: "formula", line: s.line}
			s.line = nil
		}
		if err := cmp.Or(s.draw(p, i), formula.draw(p, i+1)); err != nil {
			return nil, err
		}
	}
	if q.share {
		p.Y.Min, p.Y.Max = 0, 1
	}
	return p, nil
}

// mapPanel draws the shares of violated runs over two parameters: the darker, the more. A circle
// is where the formula says that more than half do.
func mapPanel(r sweep.Results, c sweep.Curve) (*plot.Plot, error) {
	p := panel(c.Name, r.Params[0].Head(), r.Params[1].Head())
	var shares []float64
	var measured plotter.XYs
	var predicted series
	for _, o := range c.Outcomes {
		at := plotter.XY{X: o.At[0], Y: o.At[1]}
		if o.Point.Rate().N > 0 {
			shares, measured = append(shares, o.Point.Rate().Share()), append(measured, at)
		}
		if v := o.Point.Predicted; v != nil && *v > 0.5 {
			predicted.points = append(predicted.points, at)
		}
	}
	if len(measured) > 0 {
		cells, err := plotter.NewScatter(measured)
		if err != nil {
			return nil, err
		}
		cells.GlyphStyleFunc = func(i int) draw.GlyphStyle {
			return draw.GlyphStyle{Color: color.Gray{Y: uint8(230 - 180*shares[i])}, Shape: draw.BoxGlyph{}, Radius: 5}
		}
		p.Add(cells)
	}
	return p, predicted.draw(p, 0)
}

// boundaryPanel draws the measured boundaries, and those of rules of thumb, against the formula's.
// A boundary without both sides is left out.
func boundaryPanel(r sweep.Results, all []sweep.Outcome) (*plot.Plot, error) {
	x := r.Params[0].Head()
	p := panel("", x+", boundary by the formula", x+", boundary measured, or by a rule of thumb")
	found := map[string]*series{}
	add := func(name string, x, y, low, high float64) {
		if found[name] == nil {
			found[name] = &series{name: name}
		}
		found[name].add(x, y, low, high)
	}
	line := series{name: "as the formula says; below it a rule fails"}
	for _, o := range all {
		b := o.Boundary
		if b.LastViolated == nil || b.FirstHolding == nil {
			continue
		}
		x, low, high := b.Formula.X, *b.LastViolated, *b.FirstHolding
		add("measured: "+o.Curve, x, (low+high)/2, low, high)
		for _, rule := range b.Rules {
			add("rule: "+rule.Name, x, rule.X, rule.X, rule.X)
		}
		line.line = append(line.line, plotter.XY{X: x, Y: x})
	}
	slices.SortFunc(line.line, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	err := line.draw(p, 0)
	for i, name := range slices.Sorted(maps.Keys(found)) {
		err = cmp.Or(err, found[name].draw(p, i+1))
	}
	return p, err
}
