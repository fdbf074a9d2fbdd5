package promises

import (
	"errors"
	"fmt"
	"os"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/form"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Terms are the promised properties, each with its assumptions.
type Terms map[checker.Property]Assumptions

// Tests returns the properties that a run has tested, in their order: promised, decided, and
// with their assumptions kept by the scenario with the plan that was carried out.
func (t Terms) Tests(done scenarios.Scenario, r checker.Report) (tested []checker.Property) {
	for _, f := range r.Findings {
		a, promised := t[f.Property]
		decided := f.Verdict == checker.Holds || f.Verdict == checker.Violated // without a lost node, fault tolerance is not decided
		if promised && decided && a.Outside(done) == nil {
			tested = append(tested, f.Property)
		}
	}
	return tested
}

// Unconditional promises every property without assumptions, so that limits of a lock are found
// too.
func Unconditional(scenarios.Scenario) Terms { return Under(Assumptions{})(scenarios.Scenario{}) }

// Under promises every property under the same assumptions.
func Under(a Assumptions) func(scenarios.Scenario) Terms {
	return func(scenarios.Scenario) Terms {
		t := Terms{}
		for _, p := range checker.Properties() {
			t[p] = a
		}
		return t
	}
}

// ErrNotPromised excuses a lock from a property that it does not promise.
var ErrNotPromised = errors.New("the lock does not promise it")

// Excuse says why a violation of a property in a scenario, with the plan that was carried out,
// is a limit of the lock. It returns nil if it is a defect.
func (t Terms) Excuse(p checker.Property, done scenarios.Scenario) error {
	a, promised := t[p]
	if !promised {
		return ErrNotPromised
	}
	return a.Outside(done)
}

// termsFile is a file of assumptions: one set for all properties, or a set for each promised
// property.
type termsFile struct {
	Assumptions `yaml:",inline"`

	// Properties are the assumptions of each promised property. They exclude common
	// assumptions.
	Properties map[checker.Property]Assumptions `yaml:"properties,omitempty"`
}

// Load reads a YAML file of assumptions (docs/assumptions.md). The terms are the same for
// every scenario. Errors name the file, the line and the field.
func Load(path string) (func(scenarios.Scenario) Terms, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	text, err := form.ReadText(opened)
	if err != nil {
		return nil, err
	}
	terms, err := parseTerms(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return terms, nil
}

func parseTerms(text []byte) (func(scenarios.Scenario) Terms, error) {
	var f termsFile
	if err := form.Decode(text, "set of assumptions", &f); err != nil {
		return nil, err
	}
	if err := f.validate(); err != nil {
		return nil, form.Locate(text, err)
	}
	if f.Properties == nil {
		return Under(f.Assumptions), nil
	}
	return func(scenarios.Scenario) Terms { return f.Properties }, nil
}

func (f termsFile) validate() error {
	if f.Properties == nil {
		return f.Assumptions.Validate()
	}
	if len(f.Properties) == 0 {
		return &nemesis.FieldError{Path: "properties", Err: errors.New("empty: name those that are promised, as in {lease: {}}")}
	}
	if f.Assumptions.restricts() {
		return &nemesis.FieldError{Path: "properties", Err: errors.New("not allowed beside other assumptions: repeat these for each property")}
	}
	for _, p := range checker.Properties() {
		if err := f.Properties[p].Validate(); err != nil {
			return form.In("properties", form.In(string(p), err))
		}
	}
	return nil
}
