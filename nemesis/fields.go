package nemesis

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// FieldError is a value of a setting or plan that cannot be. Path leads to it,
// as in "plan[2].crash.node".
type FieldError struct {
	Path string
	Err  error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// InField puts one more step in front of the path to a wrong value, as in
// "generate" before "faults.crash". A nil error stays nil.
func InField(name string, err error) error { return field(name, err) }

// field is InField.
func field(name string, err error) error {
	if err == nil {
		return nil
	}
	inner := new(FieldError)
	if !errors.As(err, &inner) {
		return &FieldError{Path: name, Err: err}
	}
	if strings.HasPrefix(inner.Path, "[") {
		return &FieldError{Path: name + inner.Path, Err: inner.Err}
	}
	return &FieldError{Path: name + "." + inner.Path, Err: inner.Err}
}

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

// MembersOf returns the exported fields of a struct, for code that walks over a file's content by
// its type. Reading tags takes time, and the setting of every run is walked over, so the list is
// cached: it must not be changed.
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

// EachValue calls visit with every number, duration and list of them in a fault, so that code that
// changes plans need not know the kinds: with its name in a file and a pointer to it, which is a
// *int, *int64, *float64, *time.Duration, *[]int or *[]time.Duration. Values named node, client,
// nodes or clients are numbers of those. An empty end has no values.
//
// A list may be shared with a [Plan.Clone]: replace it to change it. Not every value is possible,
// nor every combination: [Setting.Validate] and [Plan.Disjoint] check.
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

// Named returns the numbers of the clients and nodes that an action names, each in
// ascending order. Of whom it names none it is about all, or about none.
func Named(a Action) (clients, nodes []int) {
	all := map[string][]int{}
	gatherNames(reflect.ValueOf(a), "", all)
	sorted := func(names ...string) (list []int) {
		for _, n := range names {
			list = append(list, all[n]...)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	return sorted("client", "clients"), sorted("node", "nodes")
}

// gatherNames adds the numbers that stand in fields to those of the fields' names.
func gatherNames(v reflect.Value, name string, all map[string][]int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			gatherNames(v.Elem(), name, all)
		}
	case reflect.Slice:
		for i := range v.Len() {
			gatherNames(v.Index(i), name, all)
		}
	case reflect.Struct:
		for _, m := range MembersOf(v.Type()) {
			gatherNames(v.Field(m.Index), m.Name, all)
		}
	case reflect.Int:
		if v.Int() > 0 {
			all[name] = append(all[name], int(v.Int()))
		}
	}
}
