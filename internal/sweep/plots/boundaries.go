package plots

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/internal/sweep"
)

// boundary is a boundary with both sides known. At has the value of each parameter but the
// first, which is the boundary's.
type boundary struct {
	curve     string
	at        []float64
	lo, hi    float64
	predicted float64
	rules     map[string]float64
	runs      int // at each value that the search tried
}

// boundariesOf returns the pictures of boundaries: first all boundaries and rules of thumb
// against the formula; then, for each curve and each value of the remaining parameters, the
// boundaries over the second parameter, one curve for each value of the third, with the rules
// of thumb that are the same for all curves. Boundaries without both sides are left out.
func boundariesOf(r sweep.Results, say Say) ([]Picture, error) {
	var all []boundary
	for _, o := range r.Boundaries() {
		if len(o.At) != len(r.Params)-1 {
			return nil, fmt.Errorf("a boundary of %q has %d values for %d parameters beside the first", o.Curve, len(o.At), len(r.Params)-1)
		}
		l := o.Boundary
		if l.LastViolated == nil || l.FirstHolding == nil {
			continue
		}
		b := boundary{o.Curve, o.At, *l.LastViolated, *l.FirstHolding, l.Formula.X, map[string]float64{}, o.Runs}
		for _, rule := range l.Rules {
			b.rules[rule.Name] = rule.X
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		return nil, nil
	}
	about := "" // if there is nothing else
	if len(r.Points()) > 0 {
		about = "boundaries "
	}
	whole, curves := agreement(r, all), []string(nil)
	for _, g := range groupBy(all, func(b boundary) string { return b.curve }) {
		curves = append(curves, g.name)
	}
	whole.Formula = say.formula(curves...)
	pictures := []Picture{{about, whole}}
	if len(r.Params) == 1 {
		return pictures, nil
	}
	for _, g := range groupBy(all, func(b boundary) string { return b.picture(r) }) {
		c := overSecondParam(r, g)
		c.Formula = say.formula(g.members[0].curve)
		pictures = append(pictures, Picture{about + g.name, c})
	}
	return pictures, nil
}

// perTry is what has a boundary's number of runs.
const perTry = "at each value that the search tried"

// bracket describes the interval of a boundary.
const bracket = "from the last violated to the first that holds"

// middle returns the boundary as a point at x.
func (b boundary) middle(x float64) Point { return Point{x, (b.lo + b.hi) / 2, b.lo, b.hi} }

// agreement plots the measured boundaries, and the rules, against the formula.
func agreement(r sweep.Results, all []boundary) Curves {
	x, y := axis(r.Params[0]), axis(r.Params[0])
	x.Name += ", boundary by the formula"
	y.Name += ", boundary measured or by a rule"
	c := Curves{Title: title(r, ""), X: x, Y: y, Interval: bracket, RunsOf: perTry}
	for _, g := range groupBy(all, func(b boundary) string { return b.curve }) {
		one := Curve{Name: "measured, " + g.name, Scattered: true}
		for _, b := range g.members {
			one.Points, one.Runs = append(one.Points, b.middle(b.predicted)), append(one.Runs, b.runs)
		}
		c.Curves = append(c.Curves, one)
	}
	for _, rule := range rules(all) {
		one := Curve{Name: "rule " + rule, Scattered: true}
		for _, b := range all {
			if v, ok := b.rules[rule]; ok {
				one.Points = append(one.Points, Point{b.predicted, v, v, v})
			}
		}
		c.Curves = append(c.Curves, one)
	}
	by := func(a, b boundary) int { return cmp.Compare(a.predicted, b.predicted) }
	low, high := slices.MinFunc(all, by).predicted, slices.MaxFunc(all, by).predicted
	c.Curves = append(c.Curves, Curve{Name: "as the formula says; below it a rule fails", Formula: []XY{{low, low}, {high, high}}})
	return c
}

// rules returns the names of all rules.
func rules(all []boundary) []string {
	var names []string
	for _, b := range all {
		names = slices.AppendSeq(names, maps.Keys(b.rules))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// picture returns the name of the boundary's picture: its curve, and the parameters that are
// neither on the axis nor distinguish curves.
func (b boundary) picture(r sweep.Results) string {
	parts := []string{b.curve}
	for i := 2; i < len(b.at); i++ {
		parts = append(parts, valueText(r.Params[i+1], b.at[i]))
	}
	return strings.Join(parts, attribute)
}

// valueText formats the value of a parameter.
func valueText(p sweep.Param, v float64) string {
	a := axis(p)
	return strings.TrimSpace(a.Name + " " + minus(strconv.FormatFloat(v, 'g', -1, 64)) + " " + a.Unit)
}

// overSecondParam plots boundaries over the second parameter.
func overSecondParam(r sweep.Results, g group[boundary]) Curves {
	c := Curves{Title: title(r, g.name), X: axis(r.Params[1]), Y: axis(r.Params[0]), Interval: bracket, RunsOf: perTry}
	for _, one := range groupBy(g.members, func(b boundary) string { return b.line(r) }) {
		slices.SortStableFunc(one.members, func(a, b boundary) int { return cmp.Compare(a.at[0], b.at[0]) })
		curve := Curve{Name: one.name}
		for _, b := range one.members {
			curve.Points, curve.Runs = append(curve.Points, b.middle(b.at[0])), append(curve.Runs, b.runs)
			curve.Formula = append(curve.Formula, XY{b.at[0], b.predicted})
		}
		c.Curves = append(c.Curves, curve)
	}
	for _, rule := range rules(g.members) {
		if line := common(g.members, rule); line != nil {
			c.Curves = append(c.Curves, Curve{Name: "rule " + rule, Formula: line})
		}
	}
	return c
}

// line returns the name of the boundary's curve in its picture.
func (b boundary) line(r sweep.Results) string {
	if len(b.at) == 1 {
		return "measured"
	}
	return valueText(r.Params[2], b.at[1])
}

// common returns a rule over the second parameter; nil if it differs between the curves, or is
// missing for some.
func common(members []boundary, rule string) (line []XY) {
	at := map[float64]float64{}
	for _, b := range members {
		v, ok := b.rules[rule]
		before, known := at[b.at[0]]
		if !ok || known && before != v {
			return nil
		}
		at[b.at[0]] = v
	}
	for _, x := range slices.Sorted(maps.Keys(at)) {
		line = append(line, XY{x, at[x]})
	}
	return line
}
