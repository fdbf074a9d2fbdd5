package plots

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Column is a column of a chart's content, of texts or of numbers. An unknown number is NaN.
type Column struct {
	Name    string
	Texts   []string
	Numbers []float64
}

// table has a row for each point of a curve, and for each corner of its formula without a point.
func (c Curves) table() []Column {
	curve, x, y := Column{Name: "curve"}, Column{Name: c.X.label()}, Column{Name: c.Y.label()}
	low, high, formula := Column{Name: "interval low"}, Column{Name: "interval high"}, Column{Name: "formula"}
	runs := Column{Name: "runs"}
	add := func(name string, p Point, says, n float64) {
		curve.Texts = append(curve.Texts, name)
		x.Numbers, y.Numbers = append(x.Numbers, p.X), append(y.Numbers, p.Y)
		low.Numbers, high.Numbers = append(low.Numbers, p.Lo), append(high.Numbers, p.Hi)
		formula.Numbers, runs.Numbers = append(formula.Numbers, says), append(runs.Numbers, n)
	}
	for _, one := range c.Curves {
		says, measured := one.formulaAt(), map[float64]bool{}
		for i, p := range one.Points {
			measured[p.X] = true
			value, known := says[p.X]
			if !known {
				value = math.NaN()
			}
			n := math.NaN()
			if one.Runs != nil {
				n = float64(one.Runs[i])
			}
			add(one.Name, p, value, n)
		}
		for _, p := range one.Formula {
			if !measured[p.X] {
				add(one.Name, Point{p.X, math.NaN(), math.NaN(), math.NaN()}, p.Y, math.NaN())
			}
		}
	}
	return []Column{curve, x, y, low, high, formula, runs}
}

// formulaAt returns the values of the formula at its corners.
func (c Curve) formulaAt() map[float64]float64 {
	at := map[float64]float64{}
	for _, p := range c.Formula {
		at[p.X] = p.Y
	}
	return at
}

// table has a row for each cell.
func (h HeatMap) table() []Column {
	x, y, value, runs := Column{Name: h.X.label()}, Column{Name: h.Y.label()}, Column{Name: h.Value}, Column{Name: "runs"}
	for j, row := range h.Values {
		for i, v := range row {
			n := math.NaN()
			if h.Runs != nil {
				n = float64(h.Runs[j][i])
			}
			runs.Numbers = append(runs.Numbers, n)
			x.Numbers, y.Numbers, value.Numbers = append(x.Numbers, h.Xs[i]), append(y.Numbers, h.Ys[j]), append(value.Numbers, v)
		}
	}
	return []Column{x, y, value, runs}
}

// table has a row for each setting.
func (f Front) table() []Column {
	setting, x, y, kind := Column{Name: "setting"}, Column{Name: f.X.label()}, Column{Name: f.Y.label()}, Column{Name: "kind"}
	for _, s := range f.Settings {
		setting.Texts, kind.Texts = append(setting.Texts, s.Label), append(kind.Texts, s.kind())
		x.Numbers, y.Numbers = append(x.Numbers, s.X), append(y.Numbers, s.Y)
	}
	return []Column{setting, x, y, kind}
}

// withProgram adds the column of the program that made the data, as tables of a sweep have it.
func withProgram(columns []Column, about About) []Column {
	return append(columns, Column{Name: "lockstorm", Texts: slices.Repeat([]string{about.Program}, rows(columns))})
}

// rows returns the number of rows of a table.
func rows(columns []Column) int { return max(len(columns[0].Texts), len(columns[0].Numbers)) }

// cell returns the text of a value that reads back as the same; empty: unknown.
func (c Column) cell(i int) string {
	switch {
	case c.Texts != nil:
		return c.Texts[i]
	case math.IsNaN(c.Numbers[i]):
		return ""
	}
	v, form := c.Numbers[i], byte('g')
	if v == math.Trunc(v) && math.Abs(v) < mostDigits {
		form = 'f'
	}
	return strconv.FormatFloat(v, form, -1, 64)
}

// mostDigits is the number from which integers are written with an exponent.
const mostDigits = 1e15

// EncodeTable returns a table as CSV or Parquet.
func EncodeTable(columns []Column, format Format, about About) ([]byte, error) {
	switch {
	case format == CSV:
		return writeCSV(columns)
	case format != Parquet:
		return nil, fmt.Errorf("a table cannot be written as %s", format)
	case writeParquet == nil:
		return nil, ErrNoParquet
	}
	return writeParquet(columns, about)
}

func writeCSV(columns []Column) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.Name
	}
	if err := w.Write(line); err != nil {
		return nil, err
	}
	for n := range rows(columns) {
		for i, c := range columns {
			line[i] = c.cell(n)
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
