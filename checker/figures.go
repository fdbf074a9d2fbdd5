package checker

import (
	"reflect"
	"strings"
	"time"
)

// Unit is the unit of a measurement.
type Unit uint8

// The units of measurements.
const (
	Number      Unit = iota + 1 // of tries, grants, keys and so on
	Nanoseconds                 // on the ground clock
	Fraction                    // from 0 to 1
)

// NamedFigure is the name of a measurement in JSON and CSV, such as acquire_p99, and its unit.
type NamedFigure struct {
	Name  string
	Unit  Unit
	Index []int // of its field in [Measurements]
}

// Of returns the figure of some measurements.
func (f NamedFigure) Of(m Measurements) float64 {
	v := reflect.ValueOf(m).FieldByIndex(f.Index)
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// NamedFigures lists the measurements that are numbers, in the order of [Measurements].
func NamedFigures() []NamedFigure { return namedFigures }

var namedFigures = readFigures(reflect.TypeFor[Measurements]())

func readFigures(t reflect.Type) (list []NamedFigure) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		unit := Number
		switch {
		case name == "" || name == "-":
			continue
		case f.Type == reflect.TypeFor[time.Duration]():
			unit = Nanoseconds
		case f.Type.Kind() == reflect.Float64:
			unit = Fraction
		case f.Type.Kind() != reflect.Int:
			continue
		}
		list = append(list, NamedFigure{name, unit, f.Index})
	}
	return list
}
