// Package form decodes, checks, walks and copies the types that people write in files. A Go struct is the
// table that describes such a type, and each field is a row: the tag yaml has the field's name in a file,
// the tag want its limit (see [Limit]), the Go type its unit, and the comment its meaning:
//
//	// TTL is the time to live of a key. Whole milliseconds.
//	TTL time.Duration `yaml:"ttl" want:"1ms.."`
//
// [Decode] reports all mistakes at once, each with its line, its path and, if a name is unknown, the
// nearest known one; [Check] checks values; [Walk] and [Clone] visit and copy them. Package internal/schema
// makes the JSON schema and the reference page from the same tables. This package depends on no type of
// the project.
//
// No library does this: go.yaml.in/yaml reports Go types and no nearest name, and accepts 2.7 as a whole
// number; goccy/go-yaml stops at the first mistake.
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
	Name     string       // in a file; "": its own fields, or a map's entries, are inlined; "-": files do not have it
	Optional bool         // its tag has omitempty; a field without it may still be left out: see [Limit.Required]
	Limit    *Limit       // nil: none
	Of       reflect.Type // the type of its value; never a pointer
	Owner    reflect.Type // the struct that has the field
	Go       string       // its name in that struct
	Index    []int        // as in [reflect.StructField]; from the outermost struct if it is inlined

	variant bool // Of is a variant of a [Union]
	needed  bool // it is text, in a string or an [encoding.TextUnmarshaler], and must not be empty
}

// Union is a struct with a field of an interface type. In a file one of several fields stands for it, one
// for each variant. Variants returns the name of each variant and a pointer to its zero struct.
type Union interface{ Variants() iter.Seq2[string, any] }

// table describes a struct.
type table struct {
	rows     []*Field                // the exported fields of the struct itself
	fields   []*Field                // the fields in a file: those of inlined structs and the variants in place of their rows
	others   *Field                  // an inlined map, which has all other fields
	variants map[reflect.Type]string // the names of the variants of a [Union]
	rule     bool                    // the struct implements [Rule]
}

var tables sync.Map // reflect.Type → *table, because reading tags takes time

func tableOf(t reflect.Type) *table {
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
			for _, inner := range tableOf(f.Type).fields {
				outer := *inner
				outer.Index = append([]int{i}, inner.Index...)
				made.fields = append(made.fields, &outer)
			}
		case name == "" && f.Type.Kind() == reflect.Interface:
			made.addVariants(reflect.Zero(t).Interface().(Union), *row)
		case name == "" && f.Type.Kind() == reflect.Map:
			made.others = row
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

// Rows returns the exported fields of a struct. The caller must not change them.
func Rows(t reflect.Type) []*Field { return tableOf(t).rows }

// Fields returns the fields that a struct has in a file, including those of inlined structs and the variants
// of a [Union]. The caller must not change them.
func Fields(t reflect.Type) []*Field { return tableOf(t).fields }

// Walk calls visit for a value and, depth first, for every value in it, with the name of its field. If visit
// returns done, Walk skips what is inside. It also skips fields that files do not have. It stops at the first
// error, and returns it as a [FieldError] with the path from the outermost value.
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
		t := tableOf(v.Type())
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

// Clone returns a deep copy of a value. The copy still shares lists of numbers, durations or strings, values of
// maps, and unexported fields.
func Clone[T any](value T) T {
	unshare(reflect.ValueOf(&value).Elem())
	return value
}

// unshare replaces what a variable shares with other variables by copies.
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
		for _, row := range tableOf(v.Type()).rows {
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

// FieldError is the error of an invalid value. Path leads to the value, as in "plan[2].crash.node".
type FieldError struct {
	Path string
	Err  error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// In adds a name in front of the path of an error, as in "generate" before "faults.crash". A nil error stays
// nil.
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
