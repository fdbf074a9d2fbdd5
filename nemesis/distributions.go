package nemesis

import "reflect"

// EachDistribution calls do with every distribution of the setting, wherever
// it stands, and the path that leads to it, until one call returns an error.
// That error is returned as a [FieldError] with the path in front.
func (s *Setting) EachDistribution(do func(*Distribution) error) error {
	return walk(reflect.ValueOf(s), func(v reflect.Value) (bool, error) {
		if v.Kind() != reflect.Struct {
			return false, nil
		}
		if d, ok := v.Addr().Interface().(*Distribution); ok {
			return true, do(d)
		}
		return false, nil
	})
}
