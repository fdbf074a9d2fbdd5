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

// Ready returns the setting with the tables of all its distributions made, for
// worlds that are opened again and again. It shares nothing with the setting that
// could be written to there, and must not be written to itself.
func (s Setting) Ready() Setting {
	ready := s.Clone()
	_ = ready.EachDistribution(func(d *Distribution) error {
		d.table = d.Table()
		return nil
	})
	return ready
}

// Clone returns a copy of the setting. It shares nothing with it but lists of numbers,
// durations and words.
func (s Setting) Clone() Setting { return clone(reflect.ValueOf(s)).Interface().(Setting) }

// clone copies what [walk] goes through. Lists of plain values are shared.
func clone(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(clone(v.Elem()))
			return c
		}
	case reflect.Interface:
		if !v.IsNil() {
			return clone(v.Elem()).Convert(v.Type())
		}
	case reflect.Slice:
		return cloneSlice(v)
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for _, m := range MembersOf(v.Type()) {
			c.Field(m.Index).Set(clone(v.Field(m.Index)))
		}
		return c
	}
	return v
}

func cloneSlice(v reflect.Value) reflect.Value {
	switch v.Type().Elem().Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Interface, reflect.Slice:
	default:
		return v
	}
	if v.IsNil() {
		return v
	}
	c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		c.Index(i).Set(clone(v.Index(i)))
	}
	return c
}
