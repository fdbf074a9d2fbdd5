package plots

import (
	"math"
	"strconv"
)

// Title returns what stands above a chart.
func Title(c Chart) string { return c.words() }

// Data returns what a chart shows as a table: its head and its rows.
func Data(c Chart) (head []string, rows [][]string) { return c.data() }

// figureText writes a value as people read it.
func figureText(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func (c Curves) words() string  { return c.Title }
func (h HeatMap) words() string { return h.Title }
func (f Front) words() string   { return f.Title }

// data has a row for each point. What the formula says stands beside the points at which
// it has a corner.
func (c Curves) data() (head []string, rows [][]string) {
	head = []string{"curve", c.X.label(), c.Y.label(), "from", "to", "formula"}
	for _, one := range c.Curves {
		formula := map[float64]float64{}
		for _, at := range one.Formula {
			formula[at.X] = at.Y
		}
		for _, p := range one.Points {
			says := math.NaN()
			if v, ok := formula[p.X]; ok {
				says = v
			}
			rows = append(rows, []string{one.Name, figureText(p.X), figureText(p.Y), figureText(p.Lo), figureText(p.Hi), figureText(says)})
		}
	}
	return head, rows
}

// data has a row for each row of the map, from its foot to its head.
func (h HeatMap) data() (head []string, rows [][]string) {
	head = []string{h.Y.label() + " \\ " + h.X.label()}
	for _, x := range h.Xs {
		head = append(head, figureText(x))
	}
	for j, y := range h.Ys {
		row := []string{figureText(y)}
		for _, v := range h.Values[j] {
			row = append(row, figureText(v))
		}
		rows = append(rows, row)
	}
	return head, rows
}

func (f Front) data() (head []string, rows [][]string) {
	head = []string{"setting", f.X.label(), f.Y.label(), "what it is"}
	for _, s := range f.Settings {
		what := "beaten by another"
		switch {
		case s.Recommended:
			what = "recommended"
		case s.Best:
			what = "Pareto front"
		}
		rows = append(rows, []string{s.Label, figureText(s.X), figureText(s.Y), what})
	}
	return head, rows
}
