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

// head is the text above the drawing.
func (p Picture) head(e *excerpt, d *drawing, result porcupine.CheckResult) page.Head {
	h := page.Head{Title: p.title(e), Found: []page.Found{p.found()}}
	h.Notes = append(h.Notes, fmt.Sprintf("Shown: %s, from %s to %s. %s%s", e.resources(), at(d.from), at(d.to), e.searchResult(result, len(d.operations)), d.legend))
	if left := d.leftOut(e.stopped); left != "" {
		h.Notes = append(h.Notes, "Not shown: "+left+".")
	}
	if e.broken != nil {
		h.Notes = append(h.Notes, "The history cannot be read further: "+e.broken.Error())
	}
	return h
}

// found describes the findings. Several findings of one place share a story.
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

// title names the finding and the run.
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

func (e *excerpt) resources() string {
	if e.place.Resource == "" {
		return "all resources"
	}
	return fmt.Sprintf("resource %q", e.place.Resource)
}

// searchResult says what porcupine found.
func (e *excerpt) searchResult(result porcupine.CheckResult, operations int) string {
	switch {
	case operations == 0:
		return "There is nothing in it that porcupine could order."
	case result == porcupine.Illegal:
		return "Porcupine finds no order of these operations in which " + specifications[e.property] + "."
	case result == porcupine.Ok:
		return "Porcupine finds an order of these operations in which " + specifications[e.property] + "."
	}
	return "Porcupine did not come to an end of its search for an order of these operations."
}

// specifications describe the models.
var specifications = map[checker.Property]string{
	checker.Lease:   "one client at a time holds the lock, until its validity ends",
	checker.Section: "one client at a time is in its section",
	checker.Fence:   "one client at a time holds the lock, and fences grow",
	checker.Effect:  "each section reads what the one before it wrote",
}

// leftOut lists what the picture does not show.
func (d *drawing) leftOut(stopped bool) string {
	all := d.left
	if stopped {
		all = append(all, "everything after "+at(d.to))
	}
	return textfmt.List(all)
}

// at prints an instant with all digits.
func at(t history.Time) string { return time.Duration(t).String() }

// instants prints ascending instants, rounded to about four digits, or to as many as tell
// neighbours apart.
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

// rounded rounds an instant to the largest unit, a power of ten, in which it is at least the
// given number.
func rounded(t history.Time, least time.Duration) time.Duration {
	d := time.Duration(t)
	for unit := 10 * time.Millisecond; unit > 1; unit /= 10 {
		if d/unit >= least {
			return d.Round(unit)
		}
	}
	return d
}

// quoted quotes a resource's name, shortened to fit a box.
func quoted(resource string) string {
	const most = 16
	if runes := []rune(resource); len(runes) > most {
		resource = string(runes[:most]) + "…"
	}
	return strconv.Quote(resource)
}

// count prints a number of things, as in "224,995 earlier holds". which may be empty.
func count(n int, which, thing string) string {
	return strings.Join(strings.Fields(textfmt.Grouped(n)+" "+which+" "+textfmt.Plural(n, thing)), " ")
}
