package report

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Tallies are the results of scenarios, by name.
type Tallies map[string]runner.Tally

// Curve is the known results of the points of a series.
type Curve struct {
	scenarios.Series
	Values  []string
	Tallies []runner.Tally
}

// Curve returns the known results of a series.
func (found Tallies) Curve(s scenarios.Series) Curve {
	c := Curve{Series: s}
	for _, p := range s.Points {
		if t, ok := found[p.Name]; ok {
			c.Values = append(c.Values, p.Value)
			c.Tallies = append(c.Tallies, t)
		}
	}
	return c
}

// trend is how violations depend on the varied value.
type trend uint8

const (
	never     trend = iota + 1 // at no point
	always                     // at all points
	rising                     // from some point on
	falling                    // up to some point
	scattered                  // none of these
)

// trend returns the trend and, for rising and falling, the index of the first point after the
// change. A point without violations counts as kept, even if it is undecided: see [Curve.open].
func (c Curve) trend() (trend, int) {
	broken := func(i int) bool { return c.Tallies[i].Rate(c.Property).K > 0 }
	var changes []int
	for i := 1; i < len(c.Tallies); i++ {
		if broken(i) != broken(i-1) {
			changes = append(changes, i)
		}
	}
	switch {
	case len(c.Tallies) == 0 || len(changes) == 0 && !broken(0):
		return never, 0
	case len(changes) == 0:
		return always, 0
	case len(changes) > 1:
		return scattered, 0
	case broken(0):
		return falling, changes[0]
	}
	return rising, changes[0]
}

// Short says in a few words where the property is violated.
func (c Curve) Short() string {
	code, broken := c.Property.Code(), c.broken()
	trend, at := c.trend()
	switch {
	case trend == never:
		return fmt.Sprintf("%s ✓ at all %d values", code, len(c.Values))
	case trend == always:
		return fmt.Sprintf("%s ✗ at all %d values", code, len(c.Values))
	case len(broken) == 1:
		return fmt.Sprintf("%s ✗ at %s only", code, broken[0])
	case trend == scattered || c.Unordered:
		return fmt.Sprintf("%s ✗ at %d of %d values", code, len(broken), len(c.Values))
	case trend == rising:
		return fmt.Sprintf("%s ✗ from %s on", code, c.Values[at])
	}
	return fmt.Sprintf("%s ✗ up to %s", code, c.Values[at-1])
}

// broken lists the values with violations.
func (c Curve) broken() []string {
	var list []string
	for i, t := range c.Tallies {
		if t.Rate(c.Property).K > 0 {
			list = append(list, c.Values[i])
		}
	}
	return list
}

// Threshold says where violations begin or end, and where a formula predicts it.
func (c Curve) Threshold() string {
	text := c.turningPoint() + c.open() + "."
	if c.Formula != "" {
		text += "\nBy formula the boundary is at " + c.Formula + ". Close to it violations are rare: few runs may have none."
	}
	return text
}

func (c Curve) turningPoint() string {
	title := c.Property.Title()
	trend, at := c.trend()
	switch {
	case trend == never:
		return fmt.Sprintf("No value shows a violation of %s", title)
	case trend == always:
		return fmt.Sprintf("Every value shows violations of %s", title)
	case trend == scattered || c.Unordered:
		broken := c.broken()
		rest := len(c.Values) - len(broken)
		return fmt.Sprintf("%s breaks at %s; no run shows it at the other %d", textfmt.Sentence(title), strings.Join(broken, ", "), rest)
	}
	point := func(i int) string {
		r := c.Tallies[i].Rate(c.Property)
		return fmt.Sprintf("%s (%v of the runs, %s)", c.Values[i], r, r.Interval())
	}
	return fmt.Sprintf("%s turns between %s and %s", textfmt.Sentence(title), point(at-1), point(at))
}

// open says at which values the property is undecided.
func (c Curve) open() string {
	var list []string
	for i, t := range c.Tallies {
		if t.Observed(c.Property) == checker.Unknown {
			list = append(list, c.Values[i])
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; undecided at " + strings.Join(list, ", ")
}

// Table has a line for each point.
func (c Curve) Table() *textfmt.Table {
	code := c.Property.Code()
	t := &textfmt.Table{Head: []string{c.Varied, code + " violated", "share", "95 % interval", "expected"}}
	for _, m := range c.Measures {
		t.Head = append(t.Head, figures[m].title)
	}
	t.Head = append(t.Head, "seed")
	for i, tally := range c.Tallies {
		rate := tally.Rate(c.Property)
		line := []string{c.Values[i], rate.String(), rate.Percent(), rate.Interval(), expectedText(tally, c.Property)}
		measured := tally.Measured.All()
		for _, m := range c.Measures {
			line = append(line, figures[m].of(measured, tally.PerGrant(c.Property)))
		}
		t.Add(append(line, seedOf(tally, c.Property))...)
	}
	return t
}

// figures are the columns of measures.
var figures = map[scenarios.Measure]struct {
	title string
	of    func(m checker.Measurements, perGrant runner.Rate) string
}{
	scenarios.PerMillion: {"violations per 10⁶ grants", func(_ checker.Measurements, perGrant runner.Rate) string {
		return perGrant.PerMillion()
	}},
	scenarios.LostUpdates: {"updates lost", func(m checker.Measurements, _ runner.Rate) string {
		lost := runner.Rate{K: m.LostUpdates, N: m.Updates}
		return fmt.Sprintf("%v, %s", lost, lost.Percent())
	}},
	scenarios.TriesPerGrant: {"tries per grant", func(m checker.Measurements, _ runner.Rate) string {
		return textfmt.Each(m.Tries, m.Grants)
	}},
	scenarios.RequestsPerGrant: {"requests per grant", func(m checker.Measurements, _ runner.Rate) string {
		return textfmt.Each(m.Requests, m.Grants)
	}},
	scenarios.RoundsToGrant: {"rounds to 1st grant", func(m checker.Measurements, _ runner.Rate) string {
		if m.Grants == 0 {
			return "–"
		}
		return fmt.Sprint(m.MedianRounds)
	}},
	scenarios.Blocked: {"blocked by a death", func(m checker.Measurements, _ runner.Rate) string {
		return textfmt.Duration(m.NextGrantAfterDeath)
	}},
}

// SeriesLegend explains the columns of a series.
const SeriesLegend = `Share: of the runs that could be judged, with its Wilson interval in percent. Expected "–": too rare for few runs to
be relied on to show it. Seed: of the first violation, or else of the first run. Violations per 10⁶ grants: with their
interval. Updates lost: of all updates of the guarded values. Rounds: the tries with which the first client to be
granted the lock got it, in the middle one of the runs. Blocked by a death: the longest time from a holder's death to
the next grant.`

// expectedText is the expected verdict, and the actual one if it differs.
func expectedText(t runner.Tally, p checker.Property) string {
	want, wanted := t.Scenario.Expect.Want(p)
	switch {
	case !wanted:
		return "–"
	case want != t.Observed(p):
		return fmt.Sprintf("%s, was %s", summary.Sign(want), summary.Sign(t.Observed(p)))
	}
	return summary.Sign(want)
}

// seedOf is the seed of the first violation, or of the witness.
func seedOf(t runner.Tally, p checker.Property) string {
	if first, ok := t.First[p]; ok {
		return fmt.Sprint(first.Seed)
	}
	return summary.Witness(t)
}

// Showing says at how many values the expected verdict was found.
func (c Curve) Showing() string {
	shown := 0
	for _, t := range c.Tallies {
		if t.Conclusion() == runner.AsExpected {
			shown++
		}
	}
	return summary.ShownText(shown, len(c.Points), summary.Worst(c.Tallies))
}

// SeriesName distinguishes a series from a row of the same name.
func SeriesName(s scenarios.Series) string { return s.Name + SeriesMark }

// SeriesMark ends the name of a series in tables, where a row may have the same name.
const SeriesMark = " (series)"
