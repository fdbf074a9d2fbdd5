package sweep

import (
	"bytes"
	"encoding/json"
	"io"
)

// printed is what points.json holds: the campaign, and its outcomes with what follows
// from them.
type printed struct {
	Head
	Complete   bool              `json:"complete"` // all points are there
	Fit        printedFit        `json:"fit"`
	Points     []printedPoint    `json:"points"`
	Boundaries []printedBoundary `json:"boundaries"`
}

type printedFit struct {
	Compared  int     `json:"compared"` // points of which a formula says something
	Inside    int     `json:"inside"`   // of which the interval contains that
	HalfWidth float64 `json:"widest_half_width"`
}

type printedPoint struct {
	Outcome
	LastSeed  uint64     `json:"last_seed"`
	Share     float64    `json:"share"`
	Interval  [2]float64 `json:"interval"` // Wilson, 95 %
	HalfWidth float64    `json:"half_width"`
	Inside    *bool      `json:"inside,omitempty"` // absent: no formula says anything
}

type printedBoundary struct {
	Outcome
	LastSeed uint64 `json:"last_seed"`
	Met      bool   `json:"met"`
	Open     bool   `json:"open"`
}

// Print writes the results as JSON.
func (r Results) Print(to io.Writer) error {
	fit := r.Fit()
	p := printed{
		Head: r.Head, Complete: r.Complete(), Fit: printedFit{fit.Compared, fit.Inside, fit.HalfWidth},
		Points: []printedPoint{}, Boundaries: []printedBoundary{},
	}
	for _, o := range r.Points() {
		one := printedPoint{Outcome: o, LastSeed: o.LastSeed(), Share: o.Point.Rate().Share(), HalfWidth: o.Point.HalfWidth()}
		one.Interval[0], one.Interval[1] = o.Point.Interval()
		if inside, known := o.Point.Inside(); known {
			one.Inside = &inside
		}
		p.Points = append(p.Points, one)
	}
	for _, o := range r.Boundaries() {
		p.Boundaries = append(p.Boundaries, printedBoundary{o, o.LastSeed(), o.Boundary.Met(), o.Boundary.Open()})
	}
	text, err := encode(p)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	_, err = b.WriteTo(to)
	return err
}
