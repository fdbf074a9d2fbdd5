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
	HalfWidth float64 // of the widest interval
}

// Fit compares the points with their formula.
func (r Results) Fit() Fit {
	var f Fit
	for _, o := range r.Points() {
		f.Points++
		f.HalfWidth = max(f.HalfWidth, o.Point.HalfWidth())
		if inside, known := o.Point.Inside(); known {
			f.Compared++
			if inside {
				f.Inside++
			}
		}
	}
	return f
}

// Good reports whether the formula is inside at least 90 % of the intervals, of few of
// them in all but one. Of a formula that is right 95 % are expected.
func (f Fit) Good() bool { return f.Compared-f.Inside <= (f.Compared+9)/10 }

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
