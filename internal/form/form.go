// Package form derives what there is to know of a type that people write in files from one table, its
// struct. A row is a field: the tag yaml has its name in a file, the tag want its limit (see [Limit]),
// its Go type says in which unit it is, and its comment what it means:
//
//	// TTL is the time to live of a key. Whole milliseconds.
//	TTL time.Duration `yaml:"ttl" want:"1ms.."`
//
// From the table follow decoding, with all mistakes at once, each with its line, its path and the
// nearest name ([Decode]); the check of values ([Check]); walks and copies ([Walk], [Clone]). Package
// internal/schema makes the JSON schema and the reference page of it. The package knows no type of
// the project.
//
// What a library does of this is too little: go.yaml.in/yaml names Go types and no nearest name, and
// takes 2.7 for a whole number; goccy/go-yaml stops at the first mistake.
package form

import (
	"encoding"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"
)

// Field is a row of a table.
type Field struct {
	Name     string       // in a file; "": what is in it stands beside the other fields; "-": it is in no file
	Optional bool         // a file may leave it out
	Limit    *Limit       // nil: none
	Of       reflect.Type // of the values; never a pointer
	Owner    reflect.Type // the struct that has the field
	Go       string       // its name there
	Index    []int        // where it stands, as reflect numbers the fields of structs

	variant bool // Of is a variant of a [Union]
	needed  bool // it is a text or a word, and not optional
}

// Union is a struct with a field of an interface type for which a file has one of several fields, one
// for each variant. Variants returns their names, each with a pointer to a struct.
type Union interface{ Variants() iter.Seq2[string, any] }

// table is what is known of a struct.
type table struct {
	rows     []*Field // its own, some of them with fields inline
	fields   []*Field // as a file has them
	variants map[reflect.Type]string
	rule     bool // it is a [Rule]
}

var tables sync.Map // reflect.Type → *table: reading tags takes time

func of(t reflect.Type) *table {
	if known, ok := tables.Load(t); ok {
		return known.(*table)
	}
	made := &table{rule: t.Implements(reflect.TypeFor[Rule]())}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		row := &Field{Name: name, Optional: strings.Contains(options, "omitempty"), Limit: limitOf(f), Of: f.Type, Owner: t, Go: f.Name, Index: f.Index}
		if f.Type.Kind() == reflect.Pointer {
			row.Of = f.Type.Elem()
		}
		row.needed = !row.Optional && (f.Type.Kind() == reflect.String || reflect.PointerTo(f.Type).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
		made.rows = append(made.rows, row)
		switch {
		case name == "" && f.Type.Kind() == reflect.Struct:
			for _, inner := range of(f.Type).fields {
				outer := *inner
				outer.Index = append([]int{i}, inner.Index...)
				made.fields = append(made.fields, &outer)
			}
		case name == "" && f.Type.Kind() == reflect.Interface:
			made.addVariants(reflect.Zero(t).Interface().(Union), *row)
		case name != "" && name != "-":
			made.fields = append(made.fields, row)
		}
	}
	tables.Store(t, made)
	return made
}

func (t *table) addVariants(u Union, row Field) {
	t.variants = map[reflect.Type]string{}
	for name, zero := range u.Variants() {
		variant := row
		variant.Name, variant.Of, variant.Optional, variant.variant = name, reflect.TypeOf(zero).Elem(), true, true
		t.variants[variant.Of] = name
		t.fields = append(t.fields, &variant)
	}
}

// Rows returns the exported fields of a struct; the caller must not change them.
func Rows(t reflect.Type) []*Field { return of(t).rows }

// Fields returns the fields that a struct has in a file, those of inline structs and of variants among
// them; the caller must not change them.
func Fields(t reflect.Type) []*Field { return of(t).fields }

// Walk visits a value and all that is in it, by its type, so that nobody has to know where something
// stands in it: visit gets each value with the name of its field, and says whether it has dealt with
// what is in there. Fields that are in no file are left out. The walk ends with the first error, which becomes a [FieldError] with the path from
// the value.
func Walk(value any, visit func(name string, v reflect.Value) (done bool, err error)) error {
	return walk("", reflect.ValueOf(value), visit)
}

func walk(name string, v reflect.Value, visit func(string, reflect.Value) (bool, error)) error {
	if done, err := visit(name, v); done || err != nil {
		return err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return walk(name, v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := walk(name, v.Index(i), visit); err != nil {
				return In(fmt.Sprintf("[%d]", i), err)
			}
		}
	case reflect.Struct:
		t := of(v.Type())
		for _, row := range t.rows {
			if row.Name == "-" {
				continue
			}
			value := v.FieldByIndex(row.Index)
			err := walk(row.Name, value, visit)
			switch {
			case err == nil:
			case row.Name != "":
				return In(row.Name, err)
			case value.Kind() == reflect.Interface:
				return In(t.variants[reflect.Indirect(value.Elem()).Type()], err)
			default: // an inline struct
				return err
			}
		}
	}
	return nil
}

// Clone returns a copy of a value that shares nothing with it but lists of numbers, durations and words,
// and what is not exported.
func Clone[T any](value T) T {
	unshare(reflect.ValueOf(&value).Elem())
	return value
}

// unshare replaces what a variable shares with others.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(copyOf(v))
			unshare(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() { // a pointer to a variant
			c := copyOf(v.Elem())
			unshare(c.Elem())
			v.Set(c)
		}
	case reflect.Map:
		if !v.IsNil() {
			c := reflect.MakeMapWithSize(v.Type(), v.Len())
			for i := v.MapRange(); i.Next(); {
				c.SetMapIndex(i.Key(), i.Value())
			}
			v.Set(c)
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Interface, reflect.Slice:
			if !v.IsNil() {
				c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(c, v)
				v.Set(c)
			}
			for i := range v.Len() {
				unshare(v.Index(i))
			}
		}
	case reflect.Struct:
		for _, row := range of(v.Type()).rows {
			unshare(v.FieldByIndex(row.Index))
		}
	}
}

// copyOf returns a pointer to a copy of what a pointer points to.
func copyOf(p reflect.Value) reflect.Value {
	c := reflect.New(p.Type().Elem())
	c.Elem().Set(p.Elem())
	return c
}

// FieldError is a value that cannot be. Path leads to it, as in "plan[2].crash.node".
type FieldError struct {
	Path string
	Err  error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// In puts one more step in front of the path to a wrong value, as in "generate" before "faults.crash". A
// nil error stays nil.
func In(name string, err error) error {
	if err == nil {
		return nil
	}
	inner := new(FieldError)
	switch {
	case !errors.As(err, &inner):
		return &FieldError{Path: name, Err: err}
	case strings.HasPrefix(inner.Path, "["):
		return &FieldError{Path: name + inner.Path, Err: inner.Err}
	}
	return &FieldError{Path: name + "." + inner.Path, Err: inner.Err}
}
