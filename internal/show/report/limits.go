package report

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Amount prints a measurement with its unit.
func Amount(unit checker.Unit, value float64) string {
	switch unit {
	case checker.Nanoseconds:
		return textfmt.Duration(time.Duration(value))
	case checker.Fraction:
		return fmt.Sprintf("%.4g %%", 100*value)
	}
	return fmt.Sprintf("%g", value)
}

// LimitText prints the bounds of a limit, as in "50ms or less".
func LimitText(m runner.Measured) string {
	switch {
	case m.Min == 0:
		return Amount(m.Unit, m.Max) + " or less"
	case m.Max == 0:
		return Amount(m.Unit, m.Min) + " or more"
	}
	return Amount(m.Unit, m.Min) + " to " + Amount(m.Unit, m.Max)
}

// IntervalText prints the 95 % interval, or a dash if there is none.
func IntervalText(m runner.Measured) string {
	if !m.Interval {
		return "–"
	}
	return Amount(m.Unit, m.Low) + " to " + Amount(m.Unit, m.High)
}
