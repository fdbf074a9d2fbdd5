package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/parts"
)

// The format of a stored boundary and its version.
const (
	BoundaryFormat  = "lockstorm-boundary"
	BoundaryVersion = 1
)

// storedBoundary is the result of a boundary as a part of a measurement.
type storedBoundary struct {
	Backend  string           `json:"backend"`
	Property checker.Property `json:"property"`
	Contents string           `json:"contents"` // hash of the unit: see [unit.contents]
	Outcome  Outcome          `json:"outcome"`
}

// Parts divides the measurement into parts that can be run anywhere: the runs of each point into
// blocks of at most so many. A boundary is one part with all its seeds, because which x is tried
// next depends on the verdicts so far.
func (m Measurement) Parts(block int) (list []parts.Part) {
	for _, u := range m.units() {
		most := block
		if u.boundary != nil {
			most = m.runs(u)
		}
		list = append(list, parts.Divide(u.number, m.first(u), m.runs(u), most)...)
	}
	return list
}

// PartWork returns how many runs a part has at most.
func (m Measurement) PartWork(p parts.Part) int {
	u, err := m.unit(p.Unit)
	if err != nil {
		return p.Runs
	}
	return p.Runs * u.trials()
}

// RunPart measures a part and returns the stored result. In virtual time the bytes depend on the
// measurement and the part alone. Unless step is nil, it is called like [Measurement.Step]. The error is
// [parts.ErrStopped] if ctx ends before the last run.
func (m Measurement) RunPart(ctx context.Context, p parts.Part, step func(runs int)) ([]byte, error) {
	m.Step = step
	u, err := m.unit(p.Unit)
	if err != nil {
		return nil, err
	}
	var text []byte
	if u.boundary != nil {
		text, err = m.runBoundary(ctx, u, p)
	} else {
		text, err = m.runBlock(ctx, u, p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.name(), err)
	}
	return text, nil
}

func (m Measurement) runBlock(ctx context.Context, u unit, p parts.Part) ([]byte, error) {
	t, err := m.task(u).Of(p)
	if err != nil {
		return nil, err
	}
	tally, err := t.Run(ctx, m.Backend, m.SideBySide, m.Step)
	if err != nil {
		return nil, err
	}
	return t.Store(m.Backend, tally)
}

func (m Measurement) runBoundary(ctx context.Context, u unit, p parts.Part) ([]byte, error) {
	if err := m.whole(u, []parts.Part{p}); err != nil {
		return nil, err
	}
	o, err := m.measure(ctx, u)
	if err != nil {
		return nil, err
	}
	contents, err := parts.Hash(u.contents())
	if err != nil {
		return nil, err
	}
	return parts.Seal(BoundaryFormat, BoundaryVersion, storedBoundary{m.Backend.Name, m.Sweep.Property, contents, o})
}

// whole returns an error unless some parts are the one part of a boundary.
func (m Measurement) whole(u unit, list []parts.Part) error {
	if want := (parts.Part{Unit: u.number, First: m.first(u), Runs: m.runs(u)}); len(list) != 1 || list[0] != want {
		return fmt.Errorf("%v: a boundary is one part, %v", list[0], want)
	}
	return nil
}

// Join joins the stored results of parts that are all parts of some units, in order, and calls
// take with the outcome of each unit, as if it had been measured in one piece. It calls read with
// the index of a part, keeps the results of one unit at a time, and stops at the first error.
func (m Measurement) Join(list []parts.Part, read func(i int) ([]byte, error), take func(Outcome) error) error {
	units := m.units()
	for from, of := range parts.ByUnit(list) {
		u, err := m.find(units, of[0].Unit)
		if err != nil {
			return err
		}
		o, err := m.join(u, of, func(i int) ([]byte, error) { return read(from + i) })
		if err != nil {
			return fmt.Errorf("%s: %w", u.name(), err)
		}
		if err := take(o); err != nil {
			return err
		}
	}
	return nil
}

// join joins the parts of a unit.
func (m Measurement) join(u unit, list []parts.Part, read func(i int) ([]byte, error)) (Outcome, error) {
	if u.point != nil {
		tally, err := m.task(u).Join(m.Backend, list, read)
		return m.pointed(u, tally), err
	}
	if err := m.whole(u, list); err != nil {
		return Outcome{}, err
	}
	text, err := read(0)
	if err != nil {
		return Outcome{}, err
	}
	l, err := m.decodeBoundary(u, text)
	return m.located(u, l), err
}

// decodeBoundary reads the stored result of a boundary. It trusts nothing in it: the search must
// be the one that follows from the verdicts.
func (m Measurement) decodeBoundary(u unit, text []byte) (Located, error) {
	var s storedBoundary
	if err := parts.Unseal(text, BoundaryFormat, BoundaryVersion, &s); err != nil {
		return Located{}, err
	}
	contents, err := parts.Hash(u.contents())
	switch {
	case err != nil:
		return Located{}, err
	case s.Backend != m.Backend.Name:
		return Located{}, fmt.Errorf("it is of the %s backend, and not of %s", s.Backend, m.Backend.Name)
	case s.Property != m.Sweep.Property:
		return Located{}, fmt.Errorf("it is about the property %s, and not %s", s.Property, m.Sweep.Property)
	case s.Outcome.Boundary == nil:
		return Located{}, errors.New("it has no boundary")
	}
	l := *s.Outcome.Boundary
	if same, err := alike(s.Outcome, m.located(u, l)); err != nil || !same {
		return l, cmp.Or(err, fmt.Errorf("it is of unit %d (%s), %d runs from seed %d on, or has other values", s.Outcome.Unit, s.Outcome.Curve, s.Outcome.Runs, s.Outcome.First))
	}
	if s.Contents != contents {
		return l, errors.New("its scenarios or numbers are others")
	}
	return l, u.boundary.check(l, m.first(u), m.runs(u))
}

// check returns an error unless the trials are those of a search with these verdicts.
func (b *Boundary) check(l Located, first uint64, runs int) error {
	left := l.trials()
	again, err := b.find(func(x float64) (Trial, error) {
		if len(left) == 0 || left[0].X != x {
			return Trial{}, fmt.Errorf("trial %d of the search has to be at %v", len(l.trials())-len(left)+1, x)
		}
		t := left[0]
		left = left[1:]
		if (t.Witness != nil) != (t.Verdict == checker.Violated) {
			return t, fmt.Errorf("at %v: a violation and no witness, or the other way round", x)
		}
		if w := t.Witness; w != nil && (w.Seed < first || w.Seed-first >= uint64(runs)) {
			return t, fmt.Errorf("at %v: seed %d, the witness, is none of its runs", x, w.Seed)
		}
		return t, nil
	})
	if err == nil && !reflect.DeepEqual(again, l) {
		err = errors.New("the boundary is not that of its trials")
	}
	return err
}

// units returns the units of the measurement's shard.
func (m Measurement) units() []unit { return shardOf(m.Shard, m.chosen()) }

// unit returns the unit of a number.
func (m Measurement) unit(number int) (unit, error) { return m.find(m.units(), number) }

// find returns the unit of a number from a list.
func (m Measurement) find(units []unit, number int) (unit, error) {
	i := slices.IndexFunc(units, func(u unit) bool { return u.number == number })
	if i < 0 {
		return unit{}, fmt.Errorf("the sweep of the sweep %s has no point %d", m.Sweep.Name, number)
	}
	return units[i], nil
}
