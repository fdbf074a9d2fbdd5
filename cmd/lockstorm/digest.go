package main

import (
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/storm"
)

// digest is the main table without variants, and with no more than what breaks.
func (d debate) digest(out io.Writer) error {
	p := &page{out: out}
	t := &table{head: []string{"row", "Kleppmann", "antirez, redis.io", "found"}}
	for _, topic := range d.topics {
		t.section(topic.Name)
		for _, s := range topic.Rows {
			tally, ok := d.found[s.Name]
			if !ok || s.VariantOf != "" {
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

// outline names what is violated, and says if anything was not as expected.
func outline(t storm.Tally) string {
	text := "✓"
	for i, g := range rates(t) {
		if i == 0 {
			text = "✗"
		}
		text += " " + strings.Join(g.codes, " ")
	}
	if o := t.Outcome(); o != storm.AsExpected {
		text += ", " + o.String()
	}
	return text
}
