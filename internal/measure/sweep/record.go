package sweep

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// A measurement is divided into blocks: up to blockRuns runs of a point, or all of a boundary, because
// which x is tried next depends on the verdicts so far. They are numbered from 0.
const blockRuns = 1000

// block is some runs of a unit, with the seeds First, First+1, …
type block struct {
	number int
	unit   unit
	first  uint64
	runs   int // at each x of a boundary
}

// blocks divides the units into blocks: a list for each unit.
func (m Measurement) blocks() (all [][]block) {
	number := 0
	for _, u := range m.chosen() {
		var list []block
		for done := 0; done < m.runs(u); {
			n := m.runs(u) - done
			if u.point != nil {
				n = min(n, blockRuns)
			}
			list = append(list, block{number, u, m.first(u) + uint64(done), n})
			done += n
			number++
		}
		all = append(all, list)
	}
	return all
}

// record is what a block has shown.
type record struct {
	Point    *Measured          `json:"point,omitempty"` // without measurements, which follow from the columns
	Columns  map[string][]int64 `json:"columns,omitempty"`
	Boundary *Located           `json:"boundary,omitempty"`
}

// measure makes the runs of a block. The error is [errStopped] if ctx ends before the last run.
func (m Measurement) measure(ctx context.Context, b block) (record, error) {
	if b.unit.boundary != nil {
		l, err := b.unit.boundary.find(func(x float64) (Trial, error) { return m.try(ctx, b, x) })
		return record{Boundary: &l}, err
	}
	e, err := runner.Prepare(m.Backend, b.unit.point.Scenario)
	if err != nil {
		return record{}, err
	}
	t, err := runner.Batch{Experiment: e, First: b.first, Runs: b.runs, SideBySide: m.SideBySide}.Run(ctx)
	if err == nil && t.Interrupted {
		err = errStopped
	}
	p := m.Sweep.Property
	return record{Columns: t.Measured.Columns(), Point: &Measured{
		Scenario:   t.Scenario.Name,
		Violated:   t.Seen[p][checker.Violated],
		Held:       t.Seen[p][checker.Holds],
		Undecided:  t.Seen[p][checker.Unknown],
		Slipped:    t.Slipped,
		Violations: t.Violations[p],
		Witness:    witness(t, p),
	}}, err
}

// outcome returns the outcome of a unit from the records of its blocks, in their order.
func (m Measurement) outcome(list []block, records []record) Outcome {
	u := list[0].unit
	o := Outcome{Unit: u.number, Runs: m.runs(u), First: m.first(u)}
	if u.boundary != nil {
		o.Curve, o.At, o.Boundary = u.boundary.Curve, u.boundary.At, records[0].Boundary
		return o
	}
	all := Measured{Scenario: u.point.Scenario.Name, Predicted: u.point.Predicted}
	var measurements runner.Aggregate
	for i, r := range records {
		p := r.Point
		all.Violated += p.Violated
		all.Held += p.Held
		all.Undecided += p.Undecided
		all.Slipped += p.Slipped
		all.Violations += p.Violations
		if all.Witness == nil {
			all.Witness = p.Witness
		}
		measurements.Join(list[i].runs-p.Slipped, r.Columns)
	}
	all.Measurements = measurements.All()
	o.Curve, o.At, o.Point = u.point.Curve, u.point.At, &all
	return o
}

// check returns an error for a record that the block cannot have.
func (r record) check(b block) error {
	if (r.Point == nil) != (b.unit.point == nil) || (r.Boundary == nil) != (b.unit.boundary == nil) {
		return fmt.Errorf("%s: its record is of something else", b.unit.name())
	}
	for name, values := range r.Columns {
		if r.Point == nil || len(values) != b.runs-r.Point.Slipped {
			return fmt.Errorf("%s: its record has %d values of %s", b.unit.name(), len(values), name)
		}
	}
	return nil
}
