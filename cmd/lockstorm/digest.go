package main

import (
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// digest is the main table without variants, and with no more than what breaks.
func (d debate) digest(out io.Writer) error {
	p := &page{out: out}
	t := &table{head: []string{"row", "Kleppmann", "antirez, redis.io", "found"}}
	for _, topic := range d.topics {
		t.section(topic.Name)
		for i, s := range topic.Rows {
			tally, ok := d.found[s.Name]
			if !ok || variant(topic.Rows[:i], s) {
				continue
			}
			t.add(s.Name, dash(s.Claims.Kleppmann), dash(s.Claims.Antirez), outline(tally))
		}
		for _, s := range topic.Series {
			if c := d.found.curve(s); len(c.tallies) > 0 {
				t.add(seriesName(s), dash(s.Claims.Kleppmann), dash(s.Claims.Antirez), c.short())
			}
		}
	}
	t.markdown(p)
	p.say("\n✗ is violated in some run, ✓ holds in all; a row that violates something keeps the rest. %s.", codes())
	return p.err
}

// variant reports whether a row is called after one before it.
func variant(before []scenarios.Scenario, s scenarios.Scenario) bool {
	return slices.ContainsFunc(before, func(b scenarios.Scenario) bool { return strings.HasPrefix(s.Name, b.Name+"-") })
}

// outline names what is violated, and says if anything was not as expected.
func outline(t storm.Tally) string {
	text := "✓"
	for i, g := range rates(t) {
		if i == 0 {
			text = "✗"
		}
		text += " " + strings.Join(g.codes, " ")
	}
	if o := t.Conclusion(); o != storm.AsExpected {
		text += ", " + o.String()
	}
	return text
}
