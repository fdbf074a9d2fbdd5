package checker

import (
	"fmt"
	"strings"
)

// Property is one of the things that may be asked of a lock. Every history is
// judged on all of them, separately.
type Property uint8

// The properties.
const (
	// Lease: the windows in which clients may rely on the lock, until its
	// validity ends, do not overlap.
	Lease Property = iota + 1
	// Section: nor do the sections of clients that look at no clock.
	Section
	// Effect: the guarded resource is as if its accepted sections had run
	// one after another.
	Effect
	// Fence: fences grow from hold to hold.
	Fence
	// DeadlockFreedom: once faults have ended, somebody is granted again.
	DeadlockFreedom
	// FaultTolerance: with a minority of nodes gone, tries still succeed.
	FaultTolerance
	// Cleanup: what is given up leaves no keys behind.
	Cleanup
	// Contract: calls return in time, and what they return is true.
	Contract

	propertyEnd
)

// properties is the table of all of them, in their order.
var properties = [propertyEnd]struct{ name, title, code string }{
	Lease:           {"lease", "lease exclusion", "V1"},
	Section:         {"section", "section exclusion", "V2"},
	Effect:          {"effect", "effect exclusion", "V3"},
	Fence:           {"fence", "fence order", "V4"},
	DeadlockFreedom: {"deadlock_freedom", "deadlock freedom", "L1"},
	FaultTolerance:  {"fault_tolerance", "fault tolerance", "L2"},
	Cleanup:         {"cleanup", "clean-up", "L3"},
	Contract:        {"contract", "contract", "C"},
}

// Properties returns all properties, in their order.
func Properties() []Property {
	all := make([]Property, 0, propertyEnd-1)
	for p := Property(1); p < propertyEnd; p++ {
		all = append(all, p)
	}
	return all
}

func (p Property) valid() bool { return p > 0 && p < propertyEnd }

// String returns the name by which files call the property, as in "lease".
func (p Property) String() string {
	if !p.valid() {
		return fmt.Sprintf("Property(%d)", uint8(p))
	}
	return properties[p].name
}

// Title returns what a person calls the property, as in "lease exclusion".
func (p Property) Title() string {
	if !p.valid() {
		return p.String()
	}
	return properties[p].title
}

// Code returns the property's short code, as in "V1".
func (p Property) Code() string {
	if !p.valid() {
		return p.String()
	}
	return properties[p].code
}

// MarshalText prints the property by name.
func (p Property) MarshalText() ([]byte, error) {
	if !p.valid() {
		return nil, fmt.Errorf("checker: no property %d", uint8(p))
	}
	return []byte(properties[p].name), nil
}

// UnmarshalText reads a property by name.
func (p *Property) UnmarshalText(text []byte) error {
	for c := Property(1); c < propertyEnd; c++ {
		if properties[c].name == string(text) {
			*p = c
			return nil
		}
	}
	return fmt.Errorf("unknown property %q: want one of %s", text, strings.Join(names(), ", "))
}

func names() []string {
	all := make([]string, 0, propertyEnd-1)
	for _, p := range Properties() {
		all = append(all, p.String())
	}
	return all
}
