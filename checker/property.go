package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// asked is a property and how it is checked.
type asked struct {
	property   Property
	code       string // as in "V1"
	title      string // as in "lease exclusion"
	newChecker func(l *timeline.Timeline, s *shared) propertyChecker
}

// properties lists all of them in the order in which they are shown.
var properties = []asked{
	{Backing, "B", "backing", newBacking},
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

// explains reports whether what is found for the property is a cause of what another finds: overlaps of lost updates,
// and the loss of backing of overlaps.
func (p Property) explains(other Property) bool {
	return p == Lease && other == Effect || p == Backing && (other == Lease || other == Section || other == Effect)
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
