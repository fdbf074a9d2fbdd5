package nemesis

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// walk goes through a value by its type, so that nobody has to tell where
// something stands in it. It calls visit with every value on the way, which
// says whether it has dealt with all that is in there, until one call returns
// an error. That error is returned as a [FieldError] whose path is made of the
// names that fields have in a file.
func walk(v reflect.Value, visit func(reflect.Value) (done bool, err error)) error {
	if done, err := visit(v); done || err != nil {
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return walk(v.Elem(), visit)
		}
	case reflect.Interface:
		return walkInterface(v, visit)
	case reflect.Slice:
		for i := range v.Len() {
			if err := walk(v.Index(i), visit); err != nil {
				return field(fmt.Sprintf("[%d]", i), err)
			}
		}
	case reflect.Struct:
		return walkStruct(v, visit)
	}
	return nil
}

// walkInterface puts the kind of an action in front of the path to its fields.
func walkInterface(v reflect.Value, visit func(reflect.Value) (bool, error)) error {
	if v.IsNil() {
		return nil
	}
	err := walk(v.Elem(), visit)
	if action, ok := v.Interface().(Action); ok {
		return field(string(action.Kind()), err)
	}
	return err
}

func walkStruct(v reflect.Value, visit func(reflect.Value) (bool, error)) error {
	for _, f := range membersOf(v.Type()) {
		err := walk(v.Field(f.index), visit)
		switch {
		case err != nil && f.name != "":
			return field(f.name, err)
		case err != nil: // the fields of one that is inline stand beside the others
			return err
		}
	}
	return nil
}

// member is an exported field of a struct, by its index.
type member struct {
	index int
	name  string // in a file; empty: it is inline, or has none
	limit *Limit // nil: it has none
}

var members sync.Map // reflect.Type → []member

// membersOf returns the exported fields of a struct. To read tags takes time, and
// every run has its setting walked over.
func membersOf(t reflect.Type) []member {
	if known, ok := members.Load(t); ok {
		return known.([]member)
	}
	var list []member
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			list = append(list, member{i, name, LimitOf(f)})
		}
	}
	members.Store(t, list)
	return list
}
