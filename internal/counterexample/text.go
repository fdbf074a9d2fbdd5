package counterexample

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// at prints an instant exactly, as a history has it.
func at(t history.Time) string { return time.Duration(t).String() }

// instants prints instants, which ascend, to four digits or so, as stories do, and those
// that would look the same to as many as tell them apart.
func instants(times []history.Time) []string {
	all := make([]string, len(times))
	for i, t := range times {
		least := time.Duration(1000)
		for i > 0 && rounded(t, least) == rounded(times[i-1], least) || i+1 < len(times) && rounded(t, least) == rounded(times[i+1], least) {
			least *= 10
		}
		all[i] = rounded(t, least).String()
	}
	return all
}

// rounded rounds an instant so that at least so much of it is left, in units of ten.
func rounded(t history.Time, least time.Duration) time.Duration {
	d := time.Duration(t)
	for unit := 10 * time.Millisecond; unit > 1; unit /= 10 {
		if d/unit >= least {
			return d.Round(unit)
		}
	}
	return d
}

// short is as much of a token as a person compares.
func short(token string) string { return textfmt.Token(token) }

// named is as much of a resource's name as has room in a box.
func named(resource string) string {
	const most = 16
	if runes := []rune(resource); len(runes) > most {
		resource = string(runes[:most]) + "…"
	}
	return strconv.Quote(resource)
}

// some prints a number of things, as in "224,995 holds". What is before the thing, if
// anything, says which.
func some(n int, which, thing string) string {
	return strings.Join(strings.Fields(textfmt.Grouped(n)+" "+which+" "+textfmt.Plural(n, thing)), " ")
}
