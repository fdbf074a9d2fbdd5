package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// curve is what the points of a series have shown, as far as they are known.
type curve struct {
	scenarios.Series
	values  []string
	tallies []storm.Tally
}

func (found tallies) curve(s scenarios.Series) curve {
	c := curve{Series: s}
	for _, p := range s.Points {
		if t, ok := found[p.Name]; ok {
			c.values = append(c.values, p.Value)
			c.tallies = append(c.tallies, t)
		}
	}
	return c
}

// course is how violations go along the points.
type course uint8

const (
	never     course = iota + 1 // no point shows one
	always                      // every point does
	rising                      // those from some point on
	falling                     // those up to some point
	scattered                   // others
)

// course returns how violations go and, where they begin or end once, the first
// point on the other side. A point that left the property open without a
// violation shows none, which [curve.open] tells.
func (c curve) course() (course, int) {
	broken := make([]bool, len(c.tallies))
	for i, t := range c.tallies {
		broken[i] = t.Rate(c.Property).K > 0
	}
	switch turns := switches(broken); {
	case len(broken) == 0 || len(turns) == 0 && !broken[0]:
		return never, 0
	case len(turns) == 0:
		return always, 0
	case len(turns) > 1:
		return scattered, 0
	case broken[0]:
		return falling, turns[0]
	default:
		return rising, turns[0]
	}
}

// switches lists where a list changes.
func switches(list []bool) []int {
	var at []int
	for i := 1; i < len(list); i++ {
		if list[i] != list[i-1] {
			at = append(at, i)
		}
	}
	return at
}

// short says in a few words where the property breaks.
func (c curve) short() string {
	code, broken := c.Property.Code(), c.broken()
	course, at := c.course()
	switch {
	case course == never:
		return fmt.Sprintf("%s ✓ at all %d values", code, len(c.values))
	case course == always:
		return fmt.Sprintf("%s ✗ at all %d values", code, len(c.values))
	case len(broken) == 1:
		return fmt.Sprintf("%s ✗ at %s only", code, broken[0])
	case course == scattered || c.Unordered:
		return fmt.Sprintf("%s ✗ at %d of %d values", code, len(broken), len(c.values))
	case course == rising:
		return fmt.Sprintf("%s ✗ from %s on", code, c.values[at])
	}
	return fmt.Sprintf("%s ✗ up to %s", code, c.values[at-1])
}

// broken lists the values at which a run shows a violation.
func (c curve) broken() []string {
	var list []string
	for i, t := range c.tallies {
		if t.Rate(c.Property).K > 0 {
			list = append(list, c.values[i])
		}
	}
	return list
}

// threshold says where the property breaks, and where it should by a formula.
func (c curve) threshold() string {
	text := c.turn() + c.open() + "."
	if c.Formula != "" {
		text += "\nBy formula it turns at " + c.Formula + "."
	}
	return text
}

func (c curve) turn() string {
	title := c.Property.Title()
	course, at := c.course()
	switch {
	case course == never:
		return fmt.Sprintf("No value shows a violation of %s", title)
	case course == always:
		return fmt.Sprintf("Every value shows violations of %s", title)
	case course == scattered || c.Unordered:
		broken := c.broken()
		rest := len(c.values) - len(broken)
		return fmt.Sprintf("%s breaks at %s; no run shows it at the other %d", sentence(title), strings.Join(broken, ", "), rest)
	}
	point := func(i int) string {
		r := c.tallies[i].Rate(c.Property)
		return fmt.Sprintf("%s (%v of the runs, %s)", c.values[i], r, r.Interval())
	}
	return fmt.Sprintf("%s turns between %s and %s", sentence(title), point(at-1), point(at))
}

// open says at which values the property was left open.
func (c curve) open() string {
	var list []string
	for i, t := range c.tallies {
		if t.Observed(c.Property) == checker.Unknown {
			list = append(list, c.values[i])
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; undecided at " + strings.Join(list, ", ")
}

// table has a line for each point.
func (c curve) table() *table {
	code := c.Property.Code()
	t := &table{head: []string{c.Varied, code + " violated", "share", "95 % interval", "expected"}}
	for _, m := range c.Measures {
		t.head = append(t.head, figures[m].title)
	}
	t.head = append(t.head, "seed")
	for i, tally := range c.tallies {
		rate := tally.Rate(c.Property)
		line := []string{c.values[i], rate.String(), rate.Percent(), rate.Interval(), agreed(tally, c.Property)}
		measured := tally.Measured.All()
		for _, m := range c.Measures {
			line = append(line, figures[m].of(measured, tally.PerGrant(c.Property)))
		}
		t.add(append(line, seedOf(tally, c.Property))...)
	}
	return t
}

// figures are how measures are shown, of what was measured and of the violations per
// grant.
var figures = map[scenarios.Measure]struct {
	title string
	of    func(m checker.Measurements, perGrant storm.Rate) string
}{
	scenarios.PerMillion: {"violations per 10⁶ grants", func(_ checker.Measurements, perGrant storm.Rate) string {
		return perGrant.PerMillion()
	}},
	scenarios.TriesPerGrant: {"tries per grant", func(m checker.Measurements, _ storm.Rate) string {
		return words.Each(m.Tries, m.Grants)
	}},
	scenarios.RequestsPerGrant: {"requests per grant", func(m checker.Measurements, _ storm.Rate) string {
		return words.Each(m.Requests, m.Grants)
	}},
	scenarios.RoundsToGrant: {"rounds to 1st grant", func(m checker.Measurements, _ storm.Rate) string {
		if m.Grants == 0 {
			return "–"
		}
		return fmt.Sprint(m.MedianRounds)
	}},
	scenarios.Blocked: {"blocked by a death", func(m checker.Measurements, _ storm.Rate) string {
		return words.Duration(m.NextGrantAfterDeath)
	}},
}

// seriesLegend explains the columns of a series.
const seriesLegend = `Share: of the runs that could be judged, with its Wilson interval in percent. Expected "–": too rare for few runs to
be relied on to show it. Seed: of the first violation, or else of the first run. Violations per 10⁶ grants: with their
interval. Rounds: the tries with which the first client to be granted the lock got it, in the middle one of the
runs. Blocked by a death: the longest time from a holder's death to the next grant.`

// agreed is what was expected, and what came of it if that is something else.
func agreed(t storm.Tally, p checker.Property) string {
	want, wanted := t.Scenario.Expect.Want(p)
	switch {
	case !wanted:
		return "–"
	case want != t.Observed(p):
		return fmt.Sprintf("%s, was %s", sign(want), sign(t.Observed(p)))
	}
	return sign(want)
}

// seedOf is the seed of the first violation, or of the witness.
func seedOf(t storm.Tally, p checker.Property) string {
	if first, ok := t.First[p]; ok {
		return fmt.Sprint(first.Seed)
	}
	return witness(t)
}

// sentence begins with a capital.
func sentence(text string) string {
	r := slices.Clone([]byte(text))
	if len(r) > 0 && 'a' <= r[0] && r[0] <= 'z' {
		r[0] -= 'a' - 'A'
	}
	return string(r)
}
