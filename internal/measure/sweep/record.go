package sweep

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/shard"
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
	Point    *PointResult       `json:"point,omitempty"` // without measurements, which follow from the columns
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
	return record{Columns: t.Measured.Columns(), Point: &PointResult{
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
	all := PointResult{Scenario: u.point.Scenario.Name, Predicted: u.point.Predicted}
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

// try runs the scenario at x until a run violates the property, or all runs are made.
func (m Measurement) try(ctx context.Context, b block, x float64) (Trial, error) {
	property, t := m.Sweep.Property, Trial{X: x}
	e, err := runner.Prepare(m.Backend, b.unit.boundary.Scenario(x))
	if err != nil {
		return t, fmt.Errorf("at %v: %w", x, err)
	}
	looking, stop := context.WithCancel(ctx)
	defer stop()
	tally := runner.NewTally(e.Scenario())
	found := func() bool { return tally.Seen[property][checker.Violated] > 0 }
	each := func(r runner.Result) {
		if found() { // this run was already in progress
			return
		}
		tally.Add(r)
		if found() {
			stop()
		}
	}
	_, err = runner.Batch{Experiment: e, First: b.first, Runs: b.runs, SideBySide: m.SideBySide, Each: each}.Run(looking)
	switch {
	case found():
		t.Verdict, t.Witness = checker.Violated, witness(tally, property)
		t.Witness.Story = "" // a dozen trials would repeat it
	case err != nil:
		return t, fmt.Errorf("at %v: %w", x, err)
	case tally.Interrupted || tally.Runs < b.runs:
		return t, errStopped
	default:
		t.Verdict = tally.Observed(property)
	}
	return t, nil
}

// Work returns how many blocks of runs are left to be made for a log.
func (m Measurement) Work(log *shard.Log) (blocks int) {
	for _, list := range m.blocks() {
		for _, b := range list {
			if log.Shard().Has(b.number) && !log.Has(b.number) {
				blocks++
			}
		}
	}
	return blocks
}

// errStopped says that runs were stopped before the last of them had ended.
var errStopped = errors.New("stopped before the last run")

// Run makes the runs of a shard that its log has not, and adds their records to it. Of each unit whose
// records are all there, in their order, it calls take with the outcome. It stops at the first error, and
// without an error when ctx ends: a block that is not finished by then is lost. Otherwise it finishes the
// log. A log that is nil is that of all units, and keeps nothing.
func (m Measurement) Run(ctx context.Context, log *shard.Log, take func(Outcome) error) error {
	for _, list := range m.blocks() {
		var records []record
		for _, b := range list {
			if !log.Shard().Has(b.number) {
				continue
			}
			r, err := m.recordOf(ctx, log, b)
			if errors.Is(err, errStopped) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", b.unit.name(), err)
			}
			records = append(records, r)
		}
		if len(records) == len(list) {
			if err := take(m.outcome(list, records)); err != nil {
				return err
			}
		}
	}
	return log.Finish()
}

// recordOf returns the record of a block from the log, or makes it.
func (m Measurement) recordOf(ctx context.Context, log *shard.Log, b block) (r record, err error) {
	known, err := log.Get(b.number, &r)
	switch {
	case err != nil:
		return r, err
	case known:
		return r, r.check(b)
	case ctx.Err() != nil:
		return r, errStopped
	}
	if r, err = m.measure(ctx, b); err != nil {
		return r, err
	}
	if m.Step != nil {
		m.Step()
	}
	return r, log.Add(b.number, r)
}
