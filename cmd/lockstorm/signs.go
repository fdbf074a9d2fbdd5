package main

import (
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/storm"
)

// sign is a verdict in one character.
func sign(v checker.Verdict) string {
	switch v {
	case checker.Holds:
		return "✓"
	case checker.Violated:
		return "✗"
	case checker.NotApplicable:
		return "·"
	}
	return "?"
}

// signs are the verdicts over all runs; behind one that was not expected stands,
// in brackets, what was. Of a property that is not spoken of nothing is expected.
func signs(t storm.Tally) string {
	var parts []string
	for _, p := range checker.Properties() {
		observed := t.Observed(p)
		text := p.Code() + sign(observed)
		if want, wanted := t.Scenario.Expect.Want(p); wanted && want != observed {
			text += "(" + sign(want) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// legend explains the signs and codes.
func legend() string {
	return "✓ holds  ✗ violated  ? unknown  · nothing to judge  (✓) behind it: what was expected instead\n" + codes()
}

func codes() string {
	var parts []string
	for _, p := range checker.Properties() {
		parts = append(parts, p.Code()+" "+p.Title())
	}
	return strings.Join(parts, ", ")
}
