package sweep

import (
	"bytes"
	"io"
)

// printed is what points.json holds beside its outcomes.
type printed struct {
	Head
	Complete bool       `json:"complete"` // all points are there
	Fit      printedFit `json:"fit"`
}

type printedFit struct {
	Compared  int     `json:"compared"` // points of which a formula says something
	Inside    int     `json:"inside"`   // of which the interval contains that
	Between   int     `json:"between"`  // of those compared: the formula says neither 0 nor 1
	Hit       int     `json:"hit"`      // of these: the interval contains it
	HalfWidth float64 `json:"widest_half_width"`
}

// printedPoint is the outcome at a point with what follows from it.
type printedPoint struct {
	Outcome
	LastSeed  uint64     `json:"last_seed"`
	Share     float64    `json:"share"`
	Interval  [2]float64 `json:"interval"` // Wilson, 95 %
	HalfWidth float64    `json:"half_width"`
	Inside    *bool      `json:"inside,omitempty"` // absent: no formula says anything
}

// printedBoundary is the outcome of a boundary with what follows from it.
type printedBoundary struct {
	Outcome
	LastSeed uint64 `json:"last_seed"`
	Met      bool   `json:"met"`
	Open     bool   `json:"open"`
}

// Print writes the results as JSON: one value, with each outcome on a line of its own, so
// that a difference shows those that differ.
func (r Results) Print(to io.Writer) error {
	fit := r.Fit()
	head, err := encode(printed{r.Head, r.Complete(), printedFit{fit.Compared, fit.Inside, fit.Between, fit.Hit, fit.HalfWidth}})
	if err != nil {
		return err
	}
	var points, boundaries []any
	for _, o := range r.Points() {
		points = append(points, printedPointOf(o))
	}
	for _, o := range r.Boundaries() {
		boundaries = append(boundaries, printedBoundary{o, o.LastSeed(), o.Boundary.Met(), o.Boundary.Open()})
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("}\n")))
	for _, list := range []struct {
		name string
		all  []any
	}{{"points", points}, {"boundaries", boundaries}} {
		b.WriteString(",\n\"" + list.name + "\":[")
		for i, one := range list.all {
			line, err := encode(one)
			if err != nil {
				return err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
			b.Write(bytes.TrimSuffix(line, []byte("\n")))
		}
		b.WriteByte(']')
	}
	b.WriteString("}\n")
	_, err = b.WriteTo(to)
	return err
}

func printedPointOf(o Outcome) printedPoint {
	one := printedPoint{Outcome: o, LastSeed: o.LastSeed(), Share: o.Point.Rate().Share(), HalfWidth: o.Point.HalfWidth()}
	one.Interval[0], one.Interval[1] = o.Point.Interval()
	if inside, known := o.Point.Inside(); known {
		one.Inside = &inside
	}
	return one
}
