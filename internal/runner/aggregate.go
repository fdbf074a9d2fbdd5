package runner

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
)

// Aggregate is the measurements of many runs. The zero value has no runs.
type Aggregate struct {
	runs    int
	all     checker.Measurements // the sums and the maxima; the rest is not set
	medians []samples            // of figures that are medians: see medianFigures
	squares []squares            // of measurements that are shares: see shares
}

// StoredAggregate returns an aggregate with a stored number of runs and stored
// measurements. Runs cannot be added to it.
func StoredAggregate(runs int, all checker.Measurements) Aggregate {
	return Aggregate{runs: runs, all: all}
}

// Runs returns the number of runs.
func (a *Aggregate) Runs() int { return a.runs }

// All returns the measurements as of one long history. The tag of each field of
// [checker.Measurements] says whether it is the sum, the maximum or the median of the
// runs. Of two middle values the median is the lower; without values it is 0.
func (a *Aggregate) All() checker.Measurements {
	m := a.all
	v := reflect.ValueOf(&m).Elem()
	for i, list := range a.medians {
		v.FieldByIndex(medianFigures[i].of).SetInt(list.median())
	}
	m.Derive()
	return m
}

// Figures describes all measurements in words.
func (a *Aggregate) Figures() []checker.Figure { return a.All().Figures(a.runs) }

// begin makes room for what all runs have together.
func (a *Aggregate) begin() {
	if a.medians == nil {
		a.medians, a.squares = make([]samples, len(medianFigures)), make([]squares, len(shares))
	}
}

// Add adds the measurements of one run.
func (a *Aggregate) Add(m checker.Measurements) {
	a.begin()
	a.runs++
	for i := range shares {
		a.squares[i].add(shares[i].of(m))
	}
	all, one := reflect.ValueOf(&a.all).Elem(), reflect.ValueOf(m)
	for _, j := range summedFigures {
		j.add(all, one.FieldByIndex(j.from).Int())
	}
	for i, j := range medianFigures {
		if value := one.FieldByIndex(j.from).Int(); value != 0 || j.how == median {
			a.medians[i] = append(a.medians[i], value)
		}
	}
}

// Values returns, for each measurement that is a median and has values, those of the runs.
func (a *Aggregate) Values() map[string][]int64 {
	all := map[string][]int64{}
	for i, list := range a.medians {
		if len(list) > 0 {
			all[medianFigures[i].name] = list
		}
	}
	return all
}

// Join adds some runs with these measurements together, and these values: see [Aggregate.Values]. The
// result has no intervals of shares.
func (a *Aggregate) Join(runs int, together checker.Measurements, values map[string][]int64) {
	a.begin()
	a.runs += runs
	all, more := reflect.ValueOf(&a.all).Elem(), reflect.ValueOf(together)
	for _, j := range summedFigures {
		j.add(all, more.FieldByIndex(j.of).Int())
	}
	for i, j := range medianFigures {
		a.medians[i] = append(a.medians[i], values[j.name]...)
	}
}

// interval returns the 95 % interval of a measurement: of a share, which is a ratio of sums, or of a
// median.
func (a *Aggregate) interval(f checker.NamedFigure) (low, high float64, known bool) {
	for i := range a.squares {
		if shares[i].name == f.Name {
			part, whole := shares[i].of(a.all)
			return a.squares[i].interval(a.runs, part, whole)
		}
	}
	for i, list := range a.medians {
		if slices.Equal(medianFigures[i].of, f.Index) {
			return list.interval()
		}
	}
	return 0, 0, false
}

// aggregation says how one figure of many runs is computed.
type aggregation struct {
	name string // in JSON
	of   []int  // the figure
	how  string
	from []int // the figure of one run that it is made of
}

// The ways, as the tag runs names them.
const (
	sum          = "sum"
	most         = "max"
	median       = "median"
	medianOfSome = "median>0"
)

// add adds a value to a sum or a maximum.
func (j aggregation) add(all reflect.Value, value int64) {
	to := all.FieldByIndex(j.of)
	if j.how == sum {
		to.SetInt(to.Int() + value)
	} else {
		to.SetInt(max(to.Int(), value))
	}
}

// The figures that are sums or maxima, and those that are medians.
var summedFigures, medianFigures = readAggregations(reflect.TypeFor[checker.Measurements]())

// readAggregations reads the tags of all figures. A wrong tag is a programming error.
func readAggregations(t reflect.Type) (summed, medians []aggregation) {
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("runs")
		if tag == "" {
			continue
		}
		how, name, named := strings.Cut(tag, " ")
		from, known := f, true
		if named {
			from, known = t.FieldByName(name)
		}
		text, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		j := aggregation{name: text, of: f.Index, how: how, from: from.Index}
		switch {
		case known && from.Type == f.Type && (how == sum || how == most):
			summed = append(summed, j)
		case known && from.Type == f.Type && (how == median || how == medianOfSome):
			medians = append(medians, j)
		default:
			panic(fmt.Sprintf("runner: measurement %s has the tag runs:%q", f.Name, tag))
		}
	}
	return summed, medians
}
