package counterexample

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/page"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// head is what stands above the drawing.
func (p Picture) head(e *excerpt, d *drawing, result porcupine.CheckResult) page.Head {
	h := page.Head{Title: p.title(e), Found: []page.Found{p.found()}}
	h.Notes = append(h.Notes, fmt.Sprintf("Shown: %s, from %s to %s. %s%s", e.what(), at(d.from), at(d.to), e.made(result, len(d.operations)), d.legend))
	if left := d.leftOut(e.stopped); left != "" {
		h.Notes = append(h.Notes, "Not shown: "+left+".")
	}
	if e.broken != nil {
		h.Notes = append(h.Notes, "The history cannot be read further: "+e.broken.Error())
	}
	return h
}

// found tells what was found. Several findings of one place have the story of the first.
func (p Picture) found() page.Found {
	if p.cut != "" {
		codes := make([]string, len(p.Findings))
		for i, f := range p.Findings {
			codes[i] = f.Property.Code()
		}
		return page.Found{Heading: strings.Join(codes, " ") + " unknown", Story: p.cut}
	}
	var names, times []string
	for _, f := range p.Findings {
		names = append(names, f.Property.Code()+" "+f.Property.Title())
		if f.Count > 1 {
			times = append(times, textfmt.Grouped(f.Count)+" times")
			if len(p.Findings) > 1 {
				times[len(times)-1] = f.Property.Code() + " " + times[len(times)-1]
			}
		}
	}
	heading := fmt.Sprintf("%s: %v", textfmt.List(names), p.Findings[0].Verdict)
	if len(times) > 0 {
		heading += fmt.Sprintf(" (%s; this is the first)", textfmt.List(times))
	}
	return page.Found{Heading: heading, Story: p.Findings[0].Story()}
}

// title names the run as well, if it has a name.
func (p Picture) title(e *excerpt) string {
	title := "the history is cut short"
	if p.cut == "" {
		var names []string
		for _, f := range p.Findings {
			names = append(names, f.Property.Title())
		}
		title = fmt.Sprintf("%s %v", textfmt.List(names), p.Findings[0].Verdict)
	}
	if e.header.Scenario != "" {
		title = e.header.Scenario + ": " + title
	}
	if e.header.Backend != "" {
		title += fmt.Sprintf(" (%s, seed %d)", e.header.Backend, e.header.Seed)
	}
	return title
}

// what says what is shown.
func (e *excerpt) what() string {
	if e.place.Resource == "" {
		return "all resources"
	}
	return fmt.Sprintf("resource %q", e.place.Resource)
}

// made says what porcupine makes of what is shown.
func (e *excerpt) made(result porcupine.CheckResult, operations int) string {
	switch {
	case operations == 0:
		return "There is nothing in it that porcupine could order."
	case result == porcupine.Illegal:
		return "Porcupine finds no order of these operations in which " + specifications[e.subject] + "."
	case result == porcupine.Ok:
		return "Porcupine finds an order of these operations in which " + specifications[e.subject] + "."
	}
	return "Porcupine did not come to an end of its search for an order of these operations."
}

// specifications say what the models ask for.
var specifications = map[checker.Property]string{
	checker.Lease:   "one client at a time holds the lock, until its validity ends",
	checker.Section: "one client at a time is in its section",
	checker.Fence:   "one client at a time holds the lock, and fences grow",
	checker.Effect:  "each section reads what the one before it wrote",
}

// leftOut says what of the history the picture does not show.
func (d *drawing) leftOut(stopped bool) string {
	all := d.left
	if stopped {
		all = append(all, "everything after "+at(d.to))
	}
	return textfmt.List(all)
}

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
