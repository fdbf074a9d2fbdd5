package report

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// tableOf is a table of words on a page; mark says what a cell means, nil: nothing.
func tableOf(t *textfmt.Table, mark func(column, text string) document.Mark) document.Table {
	out := document.Table{Columns: document.Named(t.Head...)}
	for _, l := range t.Lines {
		if len(l) == 1 {
			out.Head(l[0])
			continue
		}
		cells := make([]document.Cell, len(l))
		for i, text := range l {
			cells[i] = cellOf(text)
			if mark != nil {
				cells[i].Mark = mark(t.Head[i], text)
			}
		}
		out.Add(cells...)
	}
	return out
}

var (
	quotient = regexp.MustCompile(`^(\d+)/(\d+)`)
	leading  = regexp.MustCompile(`^\[?(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?: %|,.*\]|)$`)
)

// cellOf is a cell that is sorted by the figure that its text is, if it is one: a number, a
// share, an interval (by its low end), k of n, a duration.
func cellOf(text string) document.Cell {
	if m := quotient.FindStringSubmatch(text); m != nil {
		k, _ := strconv.ParseFloat(m[1], 64)
		if n, _ := strconv.ParseFloat(m[2], 64); n > 0 {
			return document.Number(k/n, text)
		}
	}
	if m := leading.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			return document.Number(v, text)
		}
	}
	if d, err := time.ParseDuration(text); err == nil {
		return document.Number(d.Seconds(), text)
	}
	return document.Text(text)
}

// bySign marks what begins with the sign of a violation, or of what was left open.
func bySign(_, text string) document.Mark {
	switch {
	case strings.HasPrefix(text, Sign(checker.Violated)):
		return document.Bad
	case strings.HasPrefix(text, Sign(checker.Unknown)):
		return document.Open
	}
	return document.Plain
}

// markOf is what a conclusion means.
func markOf(c runner.Conclusion) document.Mark {
	switch c {
	case runner.AsExpected:
		return document.Good
	case runner.Contradiction:
		return document.Bad
	}
	return document.Open
}

// noBreak is a space at which no line ends.
const noBreak = "\u00a0"

// grouped is properties by their verdicts, as in "✗ V1 V2, ✓ V3"; of says which verdict a
// property has, if any.
func grouped(of func(checker.Property) (checker.Verdict, bool)) string {
	var parts []string
	for _, v := range []checker.Verdict{checker.Violated, checker.Unknown, checker.Holds, checker.NotApplicable} {
		var codes []string
		for _, p := range checker.Properties() {
			if is, known := of(p); known && is == v {
				codes = append(codes, p.Code())
			}
		}
		if len(codes) > 0 {
			parts = append(parts, Sign(v)+noBreak+strings.Join(codes, noBreak))
		}
	}
	return textfmt.Dash(strings.Join(parts, ", "))
}

// factsOf are facts on a page.
func factsOf(list []Fact) (facts document.Facts) {
	for _, f := range list {
		facts = append(facts, document.Fact{Name: f.Name, Value: f.Text})
	}
	return facts
}

// figuresOf is what was measured, folded.
func figuresOf(list []checker.Figure) document.Block {
	var facts document.Facts
	for _, f := range list {
		facts = append(facts, document.Fact{Name: f.Name, Value: strings.Join(f.Parts, ", ")})
	}
	return document.Fold{Summary: "what was measured", Blocks: []document.Block{facts}}
}
