package nemesis

import (
	"reflect"
	"time"
)

// EachValue calls visit with every number, duration and list of them that a fault has
// anywhere in it, so that whoever changes plans need not know the kinds: the name that
// it has in a file and a pointer to it, which is a *int, *int64, *float64,
// *time.Duration, *[]int or *[]time.Duration. What is called node, client, nodes or
// clients is numbers of those. An end that is nothing has no values.
//
// A list may be shared with a [Plan.Clone]: it is changed by putting another in its
// place. Not every value is possible, nor do any two fit together: [Setting.Validate]
// and [Plan.Disjoint] tell.
func (f *Fault) EachValue(visit func(name string, value any)) {
	_ = walk(reflect.ValueOf(f), func(v reflect.Value) (bool, error) {
		if v.Kind() != reflect.Struct {
			return false, nil
		}
		for _, m := range MembersOf(v.Type()) {
			if p := valueOf(v.Field(m.Index)); p != nil {
				visit(m.Name, p)
			}
		}
		return false, nil
	})
}

// valueOf returns a pointer to a field that holds a value, or that points to one.
func valueOf(field reflect.Value) any {
	p := field.Addr()
	if field.Kind() == reflect.Pointer {
		p = field
	}
	if p.IsNil() {
		return nil
	}
	switch v := p.Interface().(type) {
	case *int, *int64, *float64, *time.Duration, *[]int, *[]time.Duration:
		return v
	}
	return nil
}

// Clone returns a copy of the plan. It shares nothing with it but lists of numbers,
// durations and words.
func (p Plan) Clone() Plan { return clone(reflect.ValueOf(p)).Interface().(Plan) }
