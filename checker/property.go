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
	promise    string // what a lock that has it promises, as a clause
	broken     string // what a lock does that breaks it, as a sentence without its full stop; "": its duties say that
	bound      string // of [history.Bounds], which decides it; "": none alone does
	newChecker func(l *timeline.Timeline, s *shared) propertyChecker
}

// properties lists all of them in the order in which they are shown.
var properties = []asked{
	{Backing, "B", "backing", "until its end a hold has its key on a quorum of nodes, or its entry in the store",
		"A client is told that it holds the lock, but its keys do not protect the hold", "", newBacking},
	{Lease, "V1", "lease exclusion", "nobody else holds the lock between a grant and its Until, its release or the notice of its loss",
		"Two clients hold the lock at once", "", newLease},
	{Section, "V2", "section exclusion", "nobody else holds the lock between a grant and its release or the notice of its loss",
		"Two clients hold the lock at once", "", newSection},
	{Effect, "V3", "effect exclusion", "no update of the guarded resource is lost",
		"An update of the guarded resource is lost", "", newEffect},
	{Fence, "V4", "fence order", "the fences of grants grow",
		"The fence of a grant is not larger than that of an earlier one", "", newFences},
	{DeadlockFreedom, "L1", "deadlock freedom", "somebody gets the lock again when the faults are over",
		"Nobody gets the lock any more, although nobody holds it", "grant", newProgress},
	{FaultTolerance, "L2", "fault tolerance", "the lock works while a majority of its nodes does",
		"Nobody gets the lock, although a majority of its nodes works", "tries", newTolerance},
	{Cleanup, "L3", "clean-up", "no key stays behind after a hold was released or a try has failed",
		"A key stays behind that its holder has given up, and others wait for it", "cleanup", newCleanup},
	{Contract, "C", "contract", "calls return, grants have time left, resources are kept apart, a release reports the truth, and only it ends a hold",
		"", "", newContract},
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
	h := history.Header{Keys: true, Nodes: 1, Bounds: b}
	l := timeline.New(h)
	return slices.DeleteFunc(Properties(), func(p Property) bool {
		a, _ := p.find()
		o, hears := a.newChecker(l, &shared{}).(timeline.Observer)
		return !hears || o.Wants() != 0
	})
}

// explains reports whether what is found for the property is a cause of what another finds: overlaps of lost updates,
// and the loss of backing of overlaps. An overlap explains, too, what is left unknown of backing.
func (p Property) explains(other Property) bool {
	return p == Lease && (other == Effect || other == Backing) || p == Backing && (other == Lease || other == Section || other == Effect)
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

// Promise says what a lock that has the property promises, as a clause.
func (p Property) Promise() string {
	a, _ := p.find()
	return a.promise
}

// Broken says what a lock does that breaks the property, as a sentence without its full stop; "" if its duties say that.
func (p Property) Broken() string {
	a, _ := p.find()
	return a.broken
}

// Bound names the field of [history.Bounds] that decides the property, as in "grant"; "" if none
// alone does.
func (p Property) Bound() string {
	a, _ := p.find()
	return a.bound
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
