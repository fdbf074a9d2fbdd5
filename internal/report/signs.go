package report

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Sign is a verdict in one character.
func Sign(v checker.Verdict) string {
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

// Signs are the verdicts over all runs; behind one that was not expected stands,
// in brackets, what was. Of a property that is not spoken of nothing is expected.
func Signs(t runner.Tally) string {
	var parts []string
	for _, p := range checker.Properties() {
		observed := t.Observed(p)
		text := p.Code() + Sign(observed)
		if want, wanted := t.Scenario.Expect.Want(p); wanted && want != observed {
			text += "(" + Sign(want) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// SignLegend explains the signs.
const SignLegend = "✓ holds  ✗ violated  ? unknown  · nothing to judge  (✓) behind it: what was expected instead"

// Codes explains the codes, on one line.
func Codes() string { return CodesWithin(math.MaxInt) }

// CodesWithin explains the codes, on lines of a width: the list grows with the properties.
func CodesWithin(width int) string {
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
