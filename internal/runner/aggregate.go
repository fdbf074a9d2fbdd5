package runner

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
)

// Aggregate is the measurements of many runs together. The zero value is those of
// none.
type Aggregate struct {
	runs    int
	all     checker.Measurements
	samples map[int][]int64 // by place among the figures: those whose median is asked for
}

// Recall returns an aggregate that answers what another one did, whose number of
// runs and [Aggregate.All] are stored. Runs cannot be added to it.
func Recall(runs int, all checker.Measurements) Aggregate { return Aggregate{runs: runs, all: all} }

// Runs returns the number of runs.
func (a *Aggregate) Runs() int { return a.runs }

// All returns the measurements as of one long history. Which figure is a sum, which
// the most of any run and which a median is said where it is declared; see
// [checker.Measurements]. Of two values in the middle the median is the lower, and
// of none it is 0.
func (a *Aggregate) All() checker.Measurements {
	m := a.all
	v := reflect.ValueOf(&m).Elem()
	for place, list := range a.samples {
		slices.Sort(list)
		v.FieldByIndex(joins[place].of).SetInt(list[(len(list)-1)/2])
	}
	m.Derive()
	return m
}

// Figures tells all measurements in words.
func (a *Aggregate) Figures() []checker.Figure { return a.All().Figures(a.runs) }

// Add adds the measurements of one run.
func (a *Aggregate) Add(m checker.Measurements) {
	if a.samples == nil {
		a.samples = map[int][]int64{}
	}
	a.runs++
	all, one := reflect.ValueOf(&a.all).Elem(), reflect.ValueOf(m)
	for place, j := range joins {
		to, value := all.FieldByIndex(j.of), one.FieldByIndex(j.from).Int()
		switch j.how {
		case sum:
			to.SetInt(to.Int() + value)
		case most:
			to.SetInt(max(to.Int(), value))
		case median:
			a.samples[place] = append(a.samples[place], value)
		case medianOfSome:
			if value != 0 {
				a.samples[place] = append(a.samples[place], value)
			}
		}
	}
}

// join is how one figure of many runs is made.
type join struct {
	of   []int // the figure
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

var joins = readJoins(reflect.TypeFor[checker.Measurements]())

// readJoins reads the tags of all figures. One that cannot be is a mistake of the
// program.
func readJoins(t reflect.Type) []join {
	var list []join
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
		if !known || !slices.Contains([]string{sum, most, median, medianOfSome}, how) || from.Type != f.Type {
			panic(fmt.Sprintf("storm: the measurement %s has the tag runs:%q", f.Name, tag))
		}
		list = append(list, join{of: f.Index, how: how, from: from.Index})
	}
	return list
}
