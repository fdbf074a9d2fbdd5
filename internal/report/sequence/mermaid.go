package sequence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/trace"
)

// mostMermaid is about how many messages a diagram in Markdown shows. GitHub draws no text of more than
// 50,000 characters, and nobody reads a taller one there.
const mostMermaid = 40

// Mermaid returns the diagram of a trace for a finding in the language of Mermaid, which GitHub draws
// in Markdown: the part of the run that the finding is about. There arrows do not slant: a message stands
// where its client sent or received it. The bar of a client is its hold, and the shaded part the time in
// which two clients held the lock.
func Mermaid(t *trace.Trace, f checker.Finding) string { return of(t, f, mostMermaid).mermaid() }

// statement is a line of the text, and its place.
type statement struct {
	order int
	rank  int // among those of one order
	text  string
}

// The ranks of statements: what begins encloses, and what ends enclosed, what is of the same order.
const (
	begins = iota
	happens
	ends
)

func (d Diagram) mermaid() string {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	all, used := d.statements()
	for i, p := range d.Participants {
		if used[i] {
			fmt.Fprintf(&b, "  participant p%d as %s\n", i, mermaidText.Replace(p.Name))
		}
	}
	for _, s := range all {
		b.WriteString("  " + s.text + "\n")
	}
	return b.String()
}

// statements returns the statements in their order, and the participants that are in them.
func (d Diagram) statements() (all []statement, used map[int]bool) {
	used = map[int]bool{}
	add := func(order, rank int, format string, args ...any) {
		all = append(all, statement{order, rank, fmt.Sprintf(format, args...)})
	}
	for _, m := range d.Messages {
		used[m.From], used[m.To] = true, true
		add(m.order(), happens, "p%d%sp%d: %s", m.From, m.arrow(), m.To, mermaidText.Replace(m.label()))
	}
	for _, e := range d.Events {
		used[e.Who] = true
		add(e.At.Order, happens, "Note over p%d: %s ms: %s", e.Who, inMs(e.At.At), mermaidText.Replace(e.Text))
	}
	for _, s := range d.Spans {
		if s.State == Holding && used[s.Who] {
			add(s.From.Order, begins, "activate p%d", s.Who)
			add(s.To.Order, ends, "deactivate p%d", s.Who)
		}
	}
	if o := d.Overlap; o != nil {
		add(o.From.Order, begins, "rect rgba(200, 40, 40, 0.15)")
		add(o.To.Order, ends, "end")
	}
	for _, c := range d.Omissions {
		add(c.After, ends, "Note over p%d: %s", d.Messages[0].From, mermaidText.Replace(c.text()))
	}
	slices.SortStableFunc(all, func(a, b statement) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.rank, b.rank))
	})
	return all, used
}

// arrow is the arrow of a message.
func (m Message) arrow() string {
	switch {
	case m.Lost:
		return "-x"
	case m.Reply:
		return "-->>"
	}
	return "->>"
}

// mermaidText escapes what has a meaning in Mermaid or in Markdown's fences.
var mermaidText = strings.NewReplacer("#", "#35;", ";", "#59;", "<", "#lt;", ">", "#gt;", "`", "#96;", "\n", " ")
