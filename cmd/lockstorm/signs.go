package main

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/terminal"
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

// coloured is what is said of a conclusion, in its colour.
func coloured(on terminal.Screen, o storm.Conclusion, text string) string {
	switch o {
	case storm.AsExpected:
		return on.Good(text)
	case storm.Contradiction:
		return on.Bad(text)
	}
	return on.Strong(text)
}

// signLegend explains the signs.
const signLegend = "✓ holds  ✗ violated  ? unknown  · nothing to judge  (✓) behind it: what was expected instead"

// codes explains the codes, on one line.
func codes() string { return codesWithin(math.MaxInt) }

// codesWithin explains the codes, on lines of a width: the list grows with the properties.
func codesWithin(width int) string {
	var text strings.Builder
	used := 0
	for i, p := range checker.Properties() {
		entry := p.Code() + " " + p.Title()
		n := utf8.RuneCountInString(entry) + len(",")
		switch {
		case i == 0:
		case used+len(" ")+n > width:
			text.WriteString(",\n")
			used = 0
		default:
			text.WriteString(", ")
			used += len(" ")
		}
		text.WriteString(entry)
		used += n
	}
	return text.String()
}
