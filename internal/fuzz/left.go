package fuzz

import (
	"reflect"
	"strings"

	"github.com/lockstorm/lockstorm/scenarios"
)

// Left names the assumptions that a scenario, its plan included, is outside of, each by
// itself and as in a file, in the order of the fields. Two runs that leave the same have
// the same excuse, whatever else their plans say.
func (a Assumptions) Left(s scenarios.Scenario) (names []string) {
	all := reflect.ValueOf(a)
	for i := range all.NumField() {
		var one Assumptions
		reflect.ValueOf(&one).Elem().Field(i).Set(all.Field(i))
		if one.Outside(s) != nil {
			name, _, _ := strings.Cut(all.Type().Field(i).Tag.Get("yaml"), ",")
			names = append(names, name)
		}
	}
	return names
}
