package main

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
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

// complete reports whether every point is known.
func (c curve) complete() bool { return len(c.tallies) == len(c.Points) }

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
	code := c.Property.Code()
	course, at := c.course()
	switch course {
	case never:
		return fmt.Sprintf("%s ✓ at all %d values", code, len(c.values))
	case always:
		return fmt.Sprintf("%s ✗ at all %d values", code, len(c.values))
	case rising:
		return fmt.Sprintf("%s ✗ from %s on", code, c.values[at])
	case falling:
		return fmt.Sprintf("%s ✗ up to %s", code, c.values[at-1])
	}
	return fmt.Sprintf("%s ✗ at %d of %d values", code, c.broken(), len(c.values))
}

// broken counts the points that show a violation.
func (c curve) broken() int {
	n := 0
	for _, t := range c.tallies {
		if t.Rate(c.Property).K > 0 {
			n++
		}
	}
	return n
}

// threshold says between which values the property comes to break.
func (c curve) threshold() string {
	title := c.Property.Title()
	course, at := c.course()
	switch course {
	case never:
		return fmt.Sprintf("No value shows a violation of %s%s.", title, c.open())
	case always:
		return fmt.Sprintf("Every value shows violations of %s.", title)
	case rising, falling:
		before, after := c.tallies[at-1].Rate(c.Property), c.tallies[at].Rate(c.Property)
		return fmt.Sprintf("%s turns between %s (%v) and %s (%v)%s.", sentence(title), c.values[at-1], before, c.values[at], after, c.open())
	}
	return fmt.Sprintf("Violations of %s do not begin or end at one value: %d of %d show some%s.", title, c.broken(), len(c.values), c.open())
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
	return fmt.Sprintf("; undecided at %v", list)
}

// sum counts, over all points, the runs and those that showed what was expected.
func (c curve) sum() (shown, runs int) {
	for _, t := range c.tallies {
		shown, runs = shown+t.Shown, runs+t.Runs
	}
	return shown, runs
}

// table has a line for each point.
func (c curve) table() *table {
	code := c.Property.Code()
	t := &table{head: []string{c.Varied, code + " violated", "share", "95 %", "expected", "per 10⁶ grants", "tries/grant", "rounds", "p99", "outage", "seed"}}
	for i, tally := range c.tallies {
		rate, m := tally.Rate(c.Property), tally.Measured.All()
		t.add(c.values[i], rate.String(), rate.Percent(), rate.Interval(), agreed(tally, c.Property),
			tally.PerGrant(c.Property).PerMillion(), each(m.Tries, m.Grants), fmt.Sprint(tally.Measured.MedianRounds()), short(m.AcquireP99), short(m.LongestOutage),
			seedOf(tally, c.Property))
	}
	return t
}

// seriesLegend explains the columns of a series.
const seriesLegend = `Per 10⁶ grants: violations, with their interval. Rounds: the tries with
which the first client to be granted the lock got it, in the middle one of the runs. P99: of the time of granted tries, in the middle one of the runs. Outage: the longest.`

// agreed is what was expected, and what came of it if that is something else.
func agreed(t storm.Tally, p checker.Property) string {
	expected, stated := t.Scenario.Expect[p]
	switch {
	case !stated:
		return "–"
	case expected != t.Observed(p):
		return fmt.Sprintf("%s, was %s", sign(expected), sign(t.Observed(p)))
	}
	return sign(expected)
}

// seedOf is the seed of the first violation, or of the witness.
func seedOf(t storm.Tally, p checker.Property) string {
	if first, ok := t.First[p]; ok {
		return fmt.Sprint(first.Seed)
	}
	return witness(t)
}

// each prints how many there are for each of something.
func each(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(n)/float64(of))
}

// sentence begins with a capital.
func sentence(text string) string {
	r := slices.Clone([]byte(text))
	if len(r) > 0 && 'a' <= r[0] && r[0] <= 'z' {
		r[0] -= 'a' - 'A'
	}
	return string(r)
}
