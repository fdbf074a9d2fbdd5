package checker

import (
	"github.com/lockstorm/lockstorm/internal/timeline"

	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Property is a requirement on a lock, named as in files. Every history is judged on each
// of them separately. Each is declared beside its checker.
type Property string

// asked is a property and how it is checked.
type asked struct {
	property   Property
	code       string // as in "V1"
	title      string // as in "lease exclusion"
	newChecker func(l *timeline.Timeline, s *shared) propertyChecker
}

// properties lists all of them in the order in which they are shown.
var properties = []asked{
	{Lease, "V1", "lease exclusion", newLease},
	{Section, "V2", "section exclusion", newSection},
	{Effect, "V3", "effect exclusion", newEffect},
	{Fence, "V4", "fence order", newFences},
	{DeadlockFreedom, "L1", "deadlock freedom", newProgress},
	{FaultTolerance, "L2", "fault tolerance", newTolerance},
	{Cleanup, "L3", "clean-up", newCleanup},
	{Contract, "C", "contract", newContract},
}

// Properties returns all properties in their order.
func Properties() []Property {
	all := make([]Property, len(properties))
	for i, a := range properties {
		all[i] = a.property
	}
	return all
}

// Unasked lists the properties that are not judged with these bounds.
func Unasked(b history.Bounds) []Property {
	h := history.Header{Keys: true, Bounds: b}
	l := timeline.New(h)
	return slices.DeleteFunc(Properties(), func(p Property) bool {
		a, _ := p.find()
		o, hears := a.newChecker(l, &shared{}).(timeline.Observer)
		return !hears || o.Wants() != 0
	})
}

// find returns the property's entry in the table.
func (p Property) find() (asked, bool) {
	for _, a := range properties {
		if a.property == p {
			return a, true
		}
	}
	return asked{}, false
}

// String returns the property's name in files, as in "lease".
func (p Property) String() string { return string(p) }

// Title returns the property's name for a person, as in "lease exclusion".
func (p Property) Title() string {
	a, _ := p.find()
	return a.title
}

// Code returns the property's short code, as in "V1".
func (p Property) Code() string {
	a, _ := p.find()
	return a.code
}

// MarshalText prints the property by name.
func (p Property) MarshalText() ([]byte, error) {
	if _, ok := p.find(); !ok {
		return nil, fmt.Errorf("checker: no property %q", string(p))
	}
	return []byte(p), nil
}

// UnmarshalText reads a property by name.
func (p *Property) UnmarshalText(text []byte) error {
	if _, ok := Property(text).find(); !ok {
		return fmt.Errorf("unknown property %q: want one of %s", text, strings.Join(names(), ", "))
	}
	*p = Property(text)
	return nil
}

func names() []string {
	all := make([]string, len(properties))
	for i, a := range properties {
		all[i] = string(a.property)
	}
	return all
}

// Verdict is the result for one property of one history.
type Verdict uint8

// The verdicts.
const (
	// Holds: the history shows the property.
	Holds Verdict = iota + 1
	// Violated: the history breaks it.
	Violated
	// Unknown: the history is incomplete, or the search took too long. It never counts as
	// a pass.
	Unknown
	// NotApplicable: the history has nothing that the property is about.
	NotApplicable
)

var verdictNames = [...]string{Holds: "holds", Violated: "violated", Unknown: "unknown", NotApplicable: "n/a"}

func (v Verdict) valid() bool { return v >= Holds && int(v) < len(verdictNames) }

func (v Verdict) String() string {
	if !v.valid() {
		return fmt.Sprintf("Verdict(%d)", uint8(v))
	}
	return verdictNames[v]
}

// MarshalText prints the verdict by name.
func (v Verdict) MarshalText() ([]byte, error) {
	if !v.valid() {
		return nil, fmt.Errorf("checker: no verdict %d", uint8(v))
	}
	return []byte(verdictNames[v]), nil
}

// UnmarshalText reads a verdict by name.
func (v *Verdict) UnmarshalText(text []byte) error {
	for c := Holds; c.valid(); c++ {
		if verdictNames[c] == string(text) {
			*v = c
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q: want holds, violated, unknown or n/a", text)
}
