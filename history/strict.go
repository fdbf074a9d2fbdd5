package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// strict decodes a line into a [Header] or an [Event]: one JSON object whose fields are those of
// the type, with exact names and each at most once.
func strict(line []byte, into any) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return errors.New("malformed: an empty line")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("malformed: %w", explained(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("malformed: more than one value on the line")
	}
	if err := once(line, reflect.TypeOf(into).Elem()); err != nil {
		return fmt.Errorf("malformed: %w", err)
	}
	return nil
}

// explained rewrites an error of encoding/json without Go types.
func explained(err error) error {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return err
	}
	is := "a " + mistyped.Value
	if strings.HasPrefix(mistyped.Value, "array") || strings.HasPrefix(mistyped.Value, "object") {
		is = "an " + mistyped.Value
	}
	if mistyped.Field == "" {
		return fmt.Errorf("%s, where an object was wanted", is)
	}
	return fmt.Errorf("field %q is %s: want %s", mistyped.Field, is, sortOf(mistyped.Type))
}

func sortOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number, of 64 bits"
	case reflect.Uint64:
		return "a whole number from 0 on, of 64 bits"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return "text"
}

// once finds what encoding/json accepts: a repeated field, or a name in another case. The object
// has been decoded into t already.
func once(object []byte, t reflect.Type) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("no object")
	}
	seen := map[string]bool{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		field := name.(string) // of an object that has been read
		if seen[field] {
			return fmt.Errorf("field %q stands twice", field)
		}
		seen[field] = true
		of, known := fieldTypes[t][field]
		if !known {
			return fmt.Errorf("json: unknown field %q", field)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if of.Kind() == reflect.Struct && string(value) != "null" {
			if err := once(value, of); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldTypes maps the names in JSON to the fields of a line.
var fieldTypes = map[reflect.Type]map[string]reflect.Type{
	reflect.TypeFor[Header](): fieldsByName(reflect.TypeFor[Header]()),
	reflect.TypeFor[Bounds](): fieldsByName(reflect.TypeFor[Bounds]()),
	reflect.TypeFor[Event]():  fieldsByName(reflect.TypeFor[Event]()),
}

func fieldsByName(t reflect.Type) map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		m[name] = t.Field(i).Type
	}
	return m
}

var byteOrderMarks = []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}

// parseHeader reads the first line.
func parseHeader(line []byte) (Header, error) {
	var h Header
	for _, mark := range byteOrderMarks {
		if bytes.HasPrefix(line, []byte(mark)) {
			return h, errors.New("not a history: it begins with a byte order mark; a history is UTF-8 without one")
		}
	}
	format, version := formatOf(line)
	if format != Format {
		return h, fmt.Errorf("not a history: the first line is not a header with \"format\":%q", Format)
	}
	switch version {
	case Version:
	case 0:
		return h, fmt.Errorf("the header has no version; this program reads version %d", Version)
	default:
		return h, otherVersion(version)
	}
	if err := strict(line, &h); err != nil {
		return h, err
	}
	return h, h.validate()
}

// formatOf reads the two fields that every version of every format of ours has.
func formatOf(line []byte) (format string, version int) {
	var h struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if json.Unmarshal(line, &h) != nil {
		return "", 0
	}
	return h.Format, h.Version
}

func otherVersion(version int) error {
	return fmt.Errorf("this history has format version %d; this program reads version %d", version, Version)
}

// parseEvent decodes any line of an event.
func parseEvent(line []byte, e *Event) error {
	*e = Event{}
	err := strict(line, e)
	if err == nil {
		return nil
	}
	if format, version := formatOf(line); format == Format {
		return fmt.Errorf("a second header, of version %d: these are two histories, one behind the other", version)
	}
	return err
}
