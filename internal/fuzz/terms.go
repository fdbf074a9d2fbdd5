package fuzz

import (
	"errors"
	"fmt"
	"os"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Terms are the assumptions under which each property is promised. What is not
// named is not promised.
type Terms map[checker.Property]Assumptions

// Tests returns the properties that a run has put to the test: what is promised, could be
// seen to hold or not, and for which the scenario, with the plan that was carried out, is
// inside the assumptions. In the order of the properties.
func (t Terms) Tests(done scenarios.Scenario, r checker.Report) (tested []checker.Property) {
	for _, f := range r.Findings {
		a, promised := t[f.Property]
		decided := f.Verdict == checker.Holds || f.Verdict == checker.Violated // where nothing is gone, no fault is tolerated
		if promised && decided && a.Outside(done) == nil {
			tested = append(tested, f.Property)
		}
	}
	return tested
}

// AnyTerms promises every property, whatever happens: so what a lock does not
// withstand is found too.
func AnyTerms(scenarios.Scenario) Terms { return SameTerms(Assumptions{})(scenarios.Scenario{}) }

// SameTerms promises every property under the same assumptions.
func SameTerms(a Assumptions) func(scenarios.Scenario) Terms {
	return func(scenarios.Scenario) Terms {
		t := Terms{}
		for _, p := range checker.Properties() {
			t[p] = a
		}
		return t
	}
}

// ErrNotPromised excuses a lock from a property that it promises under no assumptions.
var ErrNotPromised = errors.New("the lock does not promise it")

// Excuse says why a violation of a property in a scenario, with the plan that was
// carried out, is a limit of the lock; nil: nothing excuses it, and it is a defect.
func (t Terms) Excuse(p checker.Property, done scenarios.Scenario) error {
	a, promised := t[p]
	if !promised {
		return ErrNotPromised
	}
	return a.Outside(done)
}

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
