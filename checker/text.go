package checker

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// at prints an instant for a person, to four digits or so.
func at(t history.Time) string { return span4(time.Duration(t)) }

// span4 prints a duration for a person, to four digits or so.
func span4(d time.Duration) string {
	for unit := 10 * time.Millisecond; unit > 1; unit /= 10 {
		if d.Abs() >= 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.String()
}

// short is as much of a token as a person compares.
func short(token string) string { return textfmt.Token(token) }

// counted prints a number of things.
func counted(n int, thing string) string {
	if n == 0 {
		return "no " + thing
	}
	return textfmt.Count(n, thing)
}
