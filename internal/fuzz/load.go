package fuzz

import (
	"errors"
	"fmt"
	"os"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// file is what a file of assumptions can say: one set of them, under which every
// property is taken to be promised, or a set for each property that is.
type file struct {
	Assumptions `yaml:",inline"`

	// Properties are the assumptions of each property that is promised. They stand
	// alone.
	Properties map[checker.Property]Assumptions `yaml:"properties,omitempty"`
}

// LoadTerms reads the assumptions in a file: in YAML, as docs/assumptions.md has it. What it
// returns says the same of every scenario. An error names the file, the line and the
// field.
func LoadTerms(path string) (func(scenarios.Scenario) Terms, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	text, err := scenarios.ReadText(opened)
	if err != nil {
		return nil, err
	}
	terms, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return terms, nil
}

func parse(text []byte) (func(scenarios.Scenario) Terms, error) {
	var f file
	if err := scenarios.Decode(text, "set of assumptions", &f); err != nil {
		return nil, err
	}
	if err := f.validate(); err != nil {
		return nil, scenarios.Locate(text, err)
	}
	if f.Properties == nil {
		return SameTerms(f.Assumptions), nil
	}
	return func(scenarios.Scenario) Terms { return f.Properties }, nil
}

func (f file) validate() error {
	if f.Properties == nil {
		return f.Assumptions.Validate()
	}
	if len(f.Properties) == 0 {
		return &nemesis.FieldError{Path: "properties", Err: errors.New("there is none: name those that are promised, as in {lease: {}}")}
	}
	if f.Assumptions.some() {
		return &nemesis.FieldError{Path: "properties", Err: errors.New("they stand alone: put what is assumed for all of them into each")}
	}
	for _, p := range checker.Properties() {
		if err := f.Properties[p].Validate(); err != nil {
			return nemesis.InField("properties", nemesis.InField(string(p), err))
		}
	}
	return nil
}
