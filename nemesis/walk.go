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
	for _, f := range MembersOf(v.Type()) {
		err := walk(v.Field(f.Index), visit)
		switch {
		case err != nil && f.Name != "":
			return field(f.Name, err)
		case err != nil: // the fields of one that is inline stand beside the others
			return err
		}
	}
	return nil
}

// Member is an exported field of a struct, by its index.
type Member struct {
	Index int
	Name  string // in a file; empty: it is inline, or has none; "-": it is in no file
	Limit *Limit // nil: it has none
}

var members sync.Map // reflect.Type → []Member

// MembersOf returns the exported fields of a struct, for whoever goes through what stands
// in a file by its type. To read tags takes time, and every run has its setting walked
// over, so what is known of a type is kept: nobody changes the list.
func MembersOf(t reflect.Type) []Member {
	if known, ok := members.Load(t); ok {
		return known.([]Member)
	}
	var list []Member
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			list = append(list, Member{i, name, LimitOf(f)})
		}
	}
	members.Store(t, list)
	return list
}
