package nemesis

import (
	"fmt"
	"reflect"
	"time"
)

// Longest is the longest duration, either way, that a setting or plan can
// name: 30 years. Nine of them can be added before time overflows and what
// should come at the end of all days would come at once.
const Longest = 30 * 365 * 24 * time.Hour

// Bounded returns a [FieldError] for the first value, anywhere in what value
// points to, that is out of the [Limit] of its field, or a duration longer than
// [Longest].
func Bounded(value any) error { return bounded(reflect.ValueOf(value)) }

// bounded looks at everything itself, by its type, so that a new field cannot
// be forgotten.
func bounded(v reflect.Value) error {
	return walk(v, func(v reflect.Value) (bool, error) {
		switch v.Type() {
		case reflect.TypeFor[time.Duration]():
			return true, tooLong(time.Duration(v.Int()))
		case reflect.TypeFor[[]time.Duration](): // reflection is slow, and there may be a million
			return true, noneTooLong(v.Interface().([]time.Duration))
		}
		if v.Kind() == reflect.Struct {
			return false, withinLimits(v)
		}
		return false, nil
	})
}

func noneTooLong(all []time.Duration) error {
	for i, d := range all {
		if err := tooLong(d); err != nil {
			return field(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

func tooLong(d time.Duration) error {
	if d < -Longest || d > Longest {
		return fmt.Errorf("%v: want at most %v, which is 30 years", d, Longest)
	}
	return nil
}
