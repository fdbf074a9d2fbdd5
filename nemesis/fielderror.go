package nemesis

import (
	"errors"
	"strings"
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
