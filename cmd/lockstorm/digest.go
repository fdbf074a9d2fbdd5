package main

import (
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// digest is the main table without variants, and with no more than what breaks.
func (d debate) digest(out io.Writer) error {
	p := &page{out: out}
	d.table(cellWidth(asMarkdown), outlined).Markdown(p)
	p.say("\n✗ is violated in some run, ✓ holds in all; a row that violates something keeps the rest. %s.", report.Codes())
	return p.err
}

// outlined is the column of the digest.
var outlined = columns{
	head:   []string{"found"},
	row:    func(t runner.Tally) []string { return []string{outline(t)} },
	series: func(c report.Curve) []string { return []string{c.Short()} },
}

// outline names what is violated, and says if anything was not as expected.
func outline(t runner.Tally) string {
	text := "✓"
	for i, g := range report.Rates(t) {
		if i == 0 {
			text = "✗"
		}
		text += " " + strings.Join(g.Codes, " ")
	}
	if o := t.Conclusion(); o != runner.AsExpected {
		text += ", " + o.String()
	}
	return text
}
