package timelinepage

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

const (
	mostLines = 200 // of a lane
	textWidth = 96
)

// Text writes the timeline as text: the findings with their stories, the faults, and for each
// lane its spans and marks with their times, or the first of them.
func (m Model) Text(to io.Writer) error {
	p := printer{to: to}
	for _, f := range m.Finds {
		p.print("%s\n", f.heading())
		for _, step := range f.Story {
			for i, line := range textfmt.Lines(printable(step.Text), textWidth) {
				p.print("%s%s\n", strings.Repeat("  ", 1+min(i, 1)), line)
			}
		}
		p.print("\n")
	}
	if m.Omitted != "" {
		p.print("%s\n\n", strings.Join(textfmt.Lines(printable(m.Omitted), textWidth), "\n"))
	}
	var faults []textLine
	for _, s := range m.Shades {
		faults = append(faults, textLine{s.From, s.To, s.Name, s.Open})
	}
	p.section("faults", faults)
	for i := range m.Lanes {
		p.section(m.Lanes[i].Name, m.lines(&m.Lanes[i]))
	}
	return p.err
}

func (f *Finding) heading() string {
	text := headline(f.Property, f.Verdict, f.Count)
	for _, same := range f.Also {
		text += "\n" + headline(same.Property, f.Verdict, same.Count)
	}
	return text
}

func headline(property string, v checker.Verdict, count int) string {
	text := fmt.Sprintf("%s: %v", property, v)
	if count > 1 {
		text += fmt.Sprintf(" (%s times; this is the first)", textfmt.Grouped(count))
	}
	return text
}

// printer prints until the first error.
type printer struct {
	to  io.Writer
	err error
}

func (p *printer) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.to, format, args...)
	}
}

// textLine is a span or a mark.
type textLine struct {
	from, to history.Time
	text     string
	open     bool
}

func (l *textLine) times() (from, to string) {
	switch {
	case l.open:
		return instant(l.from), "…"
	case l.from == l.to:
		return instant(l.from), ""
	}
	return instant(l.from), instant(l.to)
}

// section prints lines below a name, if there are any.
func (p *printer) section(name string, lines []textLine) {
	if len(lines) == 0 || p.err != nil {
		return
	}
	p.print("%s\n", name)
	table := tabwriter.NewWriter(p.to, 0, 0, 2, ' ', 0)
	for _, l := range lines[:min(len(lines), mostLines)] {
		from, to := l.times()
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\n", from, to, printable(l.text))
	}
	p.err = table.Flush()
	if left := len(lines) - mostLines; left > 0 {
		p.print("  … and %s more\n", textfmt.Grouped(left))
	}
	p.print("\n")
}

// printable replaces control characters, which would break a table or control a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '·'
		}
		return r
	}, text)
}

// lines returns a lane as text, in the order of time.
func (m *Model) lines(l *Lane) (all []textLine) {
	for _, s := range l.Spans {
		all = append(all, textLine{s.From, s.To, m.describe(stateTexts[s.State], s.Grant, s.Text), s.Open})
	}
	for _, k := range l.Marks {
		what := k.Kind
		if l.Group != Clients { // elsewhere the text says it all
			what = ""
		}
		all = append(all, textLine{k.At, k.At, m.describe(what, k.Grant, k.Text), false})
	}
	switch {
	case l.Line:
		all = append(all, clockLines(l.Samples)...)
	case l.Unit == "ns":
		all = append(all, latencyLines(l.Samples)...)
	}
	slices.SortStableFunc(all, func(a, b textLine) int { return cmp.Compare(a.from, b.from) })
	return all
}

// stateTexts are the states in words, except those whose spans have a text that says it all.
var stateTexts = map[State]string{
	Waiting: "waits", Holding: "holds", Overdue: "works on past its validity", Extends: "extend", Releases: "release",
	Paused: "paused", Dead: "dead", Cut: "cut off", Down: "down", Outage: "outage", Clash: "TWO HOLD AT ONCE",
}

// describe joins what happens, the token of the grant and the text. It leaves out the token if
// the text has it.
func (m *Model) describe(what string, grant int, text string) string {
	parts := []string{what, "", text}
	if grant >= 0 {
		if token := textfmt.Token(m.Grants[grant].Token); !strings.Contains(text, token) {
			parts[1] = "(" + token + ")"
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// clockLines returns the errors of a clock, without repetitions.
func clockLines(samples []Sample) (all []textLine) {
	for _, s := range samples {
		text := "right"
		switch d := time.Duration(s.Value); {
		case d > 0:
			text = textfmt.Duration(d) + " ahead"
		case d < 0:
			text = textfmt.Duration(-d) + " behind"
		}
		if len(all) == 0 || all[len(all)-1].text != text {
			all = append(all, textLine{s.At, s.At, text, false})
		}
	}
	return all
}

// latencyLines returns the longest of many times, and how many tries were refused.
func latencyLines(samples []Sample) []textLine {
	if len(samples) == 0 {
		return nil
	}
	longest, refused := samples[0], 0
	for _, s := range samples {
		if s.Value > longest.Value {
			longest = s
		}
		if s.Bad {
			refused++
		}
	}
	text := fmt.Sprintf("the longest: %s; of %s %s refused", textfmt.Duration(time.Duration(longest.Value)), textfmt.Count(len(samples), "try"), textfmt.Grouped(refused))
	return []textLine{{longest.At, longest.At, text, false}}
}
