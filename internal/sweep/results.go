package sweep

import (
	"bytes"
	"path/filepath"

	"github.com/lockstorm/lockstorm/internal/files"
)

// The files of the results in the directory of a campaign.
const (
	PointsFile     = "points.csv"     // a row a point
	BoundariesFile = "boundaries.csv" // a row a boundary
	ResultsFile    = "points.json"    // all of it
	SummaryFile    = "summary.md"     // for people
)

var resultFiles = []string{PointsFile, BoundariesFile, ResultsFile, SummaryFile}

// Results is a campaign and what it has found, in the order of the units.
type Results struct {
	Head
	Outcomes []Outcome
}

// Complete reports whether all is there that the campaign, or this shard, is about.
func (r Results) Complete() bool { return len(r.Outcomes) == r.Units() }

// Points returns the outcomes at points.
func (r Results) Points() []Outcome {
	return r.those(func(o Outcome) bool { return o.Point != nil })
}

// Boundaries returns the outcomes of boundaries.
func (r Results) Boundaries() []Outcome {
	return r.those(func(o Outcome) bool { return o.Boundary != nil })
}

func (r Results) those(are func(Outcome) bool) (some []Outcome) {
	for _, o := range r.Outcomes {
		if are(o) {
			some = append(some, o)
		}
	}
	return some
}

// Fit is how the measured points compare with their formula, and how exact they are.
type Fit struct {
	Points    int     // that were measured
	Compared  int     // of which a formula says something
	Inside    int     // of which the interval contains that
	Between   int     // of those compared: the formula says neither 0 nor 1
	Hit       int     // of these: the interval contains it
	HalfWidth float64 // of the widest interval
}

// Fit compares the points with their formula.
func (r Results) Fit() Fit {
	var f Fit
	for _, o := range r.Points() {
		f.Points++
		f.HalfWidth = max(f.HalfWidth, o.Point.HalfWidth())
		inside, known := o.Point.Inside()
		if !known {
			continue
		}
		between := 0 < *o.Point.Predicted && *o.Point.Predicted < 1
		f.Compared++
		f.Inside += one(inside)
		f.Between += one(between)
		f.Hit += one(between && inside)
	}
	return f
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Good reports whether the formula is inside at least 90 % of the intervals, of few of
// them in all but one: of all, and of those where it says neither 0 nor 1. Of a formula
// that is right 95 % of the latter are expected.
func (f Fit) Good() bool {
	return few(f.Compared-f.Inside, f.Compared) && few(f.Between-f.Hit, f.Between)
}

// few reports whether no more than a tenth was missed, rounded up.
func few(missed, of int) bool { return missed <= (of+9)/10 }

// Save writes the results into their files, all but the summary. Each is there whole, or
// as it was.
func (r Results) Save(dir string) error {
	tables := []struct {
		name string
		rows [][]string
	}{{PointsFile, r.pointRows()}, {BoundariesFile, r.boundaryRows()}}
	for _, t := range tables {
		if len(t.rows) == 1 { // the head alone
			continue
		}
		text, err := separated(t.rows)
		if err == nil {
			err = files.WriteWhole(filepath.Join(dir, t.name), text)
		}
		if err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		return err
	}
	return files.WriteWhole(filepath.Join(dir, ResultsFile), b.Bytes())
}

// SaveSummary writes the summary.
func SaveSummary(dir string, text []byte) error {
	return files.WriteWhole(filepath.Join(dir, SummaryFile), text)
}
