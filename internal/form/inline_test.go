package form

import (
	"strings"
	"testing"
	"time"
)

// either is text, or a mapping whose entries are anything but least.
type either struct {
	Least  time.Duration            `yaml:"least,omitempty"`
	Others map[string]time.Duration `yaml:",inline"`
}

func (e *either) UnmarshalText(text []byte) (err error) {
	e.Least, err = time.ParseDuration(string(text))
	return err
}

// A struct may have a text form beside its mapping, and an inlined map for the fields that it does not name.
func TestTextAndInlinedMap(t *testing.T) {
	var v struct {
		A either `yaml:"a"`
		B either `yaml:"b"`
	}
	if err := Decode([]byte("a: 2s\nb: {x: 1s, least: 3s, y: 4s}"), "test", &v); err != nil {
		t.Fatal(err)
	}
	if v.A.Least != 2*time.Second || v.B.Least != 3*time.Second || v.B.Others["x"] != time.Second || len(v.B.Others) != 2 {
		t.Errorf("%+v", v)
	}
	var printed strings.Builder
	if err := Print(&printed, v.B); err != nil || printed.String() != "least: 3s\nx: 1s\n\"y\": 4s\n" {
		t.Errorf("%v: printed %q", err, printed.String())
	}
	for text, want := range map[string]string{
		"a: soon":                       "line 1: a: time: invalid duration",
		"b: {x: 1}":                     "line 1: b.x: 1 is not a duration",
		"b: [1s]":                       "line 1: b: there is a list: want a mapping",
		"a: {x: 1s}\nb: {x: 1s, x: 2s}": "line 2: b: x stands on line 2 already",
	} {
		if err := Decode([]byte(text), "test", &v); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
