package timeline

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
	mostLines = 200 // of a lane, as text
	textWidth = 96  // of stories
)

// Text writes the same for those who do not see the drawing: what was found with its story,
// the faults, and lane by lane what went on, from when to when. Of a lane with very many
// things the first are told.
func (m Model) Text(to io.Writer) error {
	p := printer{to: to}
	for _, f := range m.Finds {
		p.print("%s\n", f.heading())
		for _, told := range f.Story {
			for i, line := range textfmt.Lines(printable(told), textWidth) {
				p.print("%s%s\n", strings.Repeat("  ", 1+min(i, 1)), line)
			}
		}
		p.print("\n")
	}
	if m.Omitted != "" {
		p.print("%s\n\n", strings.Join(textfmt.Lines(printable(m.Omitted), textWidth), "\n"))
	}
	var faults []line
	for _, s := range m.Shades {
		faults = append(faults, line{s.From, s.To, s.Name, s.Open})
	}
	p.section("faults", faults)
	for i := range m.Lanes {
		p.section(m.Lanes[i].Name, m.lines(&m.Lanes[i]))
	}
	return p.err
}

func (f *Find) heading() string {
	text := headed(f.Property, f.Verdict, f.Count)
	for _, same := range f.Also {
		text += "\n" + headed(same.Property, f.Verdict, same.Count)
	}
	return text
}

func headed(property string, v checker.Verdict, count int) string {
	text := fmt.Sprintf("%s: %v", property, v)
	if count > 1 {
		text += fmt.Sprintf(" (%s times; this is the first)", textfmt.Grouped(count))
	}
	return text
}

// printer prints until something goes wrong.
type printer struct {
	to  io.Writer
	err error
}

func (p *printer) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.to, format, args...)
	}
}

// line is something that went on, or happened, as text.
type line struct {
	from, to history.Time
	text     string
	open     bool
}

func (l *line) times() (from, to string) {
	switch {
	case l.open:
		return instant(l.from), "…"
	case l.from == l.to:
		return instant(l.from), ""
	}
	return instant(l.from), instant(l.to)
}

// section prints lines below a name, if there are any.
func (p *printer) section(name string, lines []line) {
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

// printable is a text without what would move a table, or do something to a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '·'
		}
		return r
	}, text)
}

// lines are what a lane tells, in the order of time.
func (m *Model) lines(l *Lane) (all []line) {
	for _, s := range l.Spans {
		all = append(all, line{s.From, s.To, m.words(said[s.State], s.Grant, s.Text), s.Open})
	}
	for _, k := range l.Marks {
		what := k.Kind
		if l.Group != Clients { // there the text says it all
			what = ""
		}
		all = append(all, line{k.At, k.At, m.words(what, k.Grant, k.Text), false})
	}
	switch {
	case l.Line:
		all = append(all, readings(l.Samples)...)
	case l.Unit == "ns":
		all = append(all, latencies(l.Samples)...)
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.from, b.from) })
	return all
}

// said are the states in words, where their texts do not say it all.
var said = map[State]string{
	Waiting: "waits", Holding: "holds", Overdue: "goes on past its validity", Extends: "extend", Releases: "release",
	Paused: "stands still", Dead: "is dead", Cut: "cut off", Down: "down", Outage: "outage", Clash: "TWO HOLD AT ONCE",
}

// words says what goes on, under which grant, and what else there is to say of it. What
// names its token needs no other name.
func (m *Model) words(what string, grant int, text string) string {
	parts := []string{what, "", text}
	if grant >= 0 {
		if token := textfmt.Token(m.Grants[grant].Token); !strings.Contains(text, token) {
			parts[1] = "(" + token + ")"
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// readings tell by how much a clock was off, whenever that changes its course.
func readings(samples []Sample) (all []line) {
	for _, s := range samples {
		text := "right"
		switch d := time.Duration(s.Value); {
		case d > 0:
			text = textfmt.Duration(d) + " ahead"
		case d < 0:
			text = textfmt.Duration(-d) + " behind"
		}
		if len(all) == 0 || all[len(all)-1].text != text {
			all = append(all, line{s.At, s.At, text, false})
		}
	}
	return all
}

// latencies tell the longest of many times, and how many tries were refused.
func latencies(samples []Sample) []line {
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
	return []line{{longest.At, longest.At, text, false}}
}
