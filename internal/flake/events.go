//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// wholePackage stands for a test where a binary failed and none of its tests did.
const wholePackage = "(no single test)"

// event is what test2json prints for each step of a test.
type event struct {
	Action string
	Test   string
	Output string
}

// progress is what a binary's events amount to so far.
type progress struct {
	last map[string]string // the last action of each test, but for its output
}

// follow reads the events of a binary until their end, and writes its output.
func follow(events io.Reader, output io.Writer) (progress, error) {
	p := progress{last: map[string]string{}}
	for d := json.NewDecoder(events); ; {
		var e event
		switch err := d.Decode(&e); {
		case errors.Is(err, io.EOF):
			return p, nil
		case err != nil:
			return p, fmt.Errorf("read the events of the tests: %w", err)
		}
		if e.Action == "output" {
			if _, err := io.WriteString(output, e.Output); err != nil {
				return p, err
			}
			continue
		}
		if e.Test != "" {
			p.last[e.Test] = e.Action
		}
	}
}

// count returns how many top-level tests ended with an action.
func (p progress) count(action string) (n int) {
	for test, last := range p.last {
		if last == action && !strings.Contains(test, "/") {
			n++
		}
	}
	return n
}

// failed returns the tests to which a binary's failure is put down: those that failed; if
// none did, those that were running when it ended. A test of which a subtest is among
// them is left out.
func (p progress) failed() []string {
	tests := p.ended("fail")
	if len(tests) == 0 {
		tests = p.ended("run", "cont")
	}
	if len(tests) == 0 {
		return []string{wholePackage}
	}
	return tests
}

func (p progress) ended(actions ...string) (tests []string) {
	for _, test := range slices.Sorted(maps.Keys(p.last)) {
		if slices.Contains(actions, p.last[test]) {
			tests = append(tests, test)
		}
	}
	all := slices.Clone(tests)
	return slices.DeleteFunc(tests, func(test string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, test+"/") })
	})
}
