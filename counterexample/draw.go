package counterexample

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/words"
)

// drawing is what porcupine draws.
type drawing struct {
	model       porcupine.Model
	operations  []porcupine.Operation
	annotations []porcupine.Annotation
	clients     []string // what the rows of the operations are called
	from, to    history.Time
	left        []string // what is not shown
}

// draw makes operations and annotations of what was kept.
func (e *excerpt) draw() *drawing {
	d := &drawing{from: e.place.From, to: e.place.To}
	var shown []operation
	if e.subject == checker.Effect {
		shown = e.accessOperations(d)
	} else {
		shown = e.holdOperations(d)
	}
	d.model.DescribeOperationMetadata = func(text any) string { return html.EscapeString(text.(string)) }
	d.operate(shown)
	d.annotate(e)
	return d
}

// operation is an operation of a client, with what is said of it.
type operation struct {
	porcupine.Operation
	client int
}

func (d *drawing) include(from, to history.Time) {
	d.from, d.to = min(d.from, from), max(d.to, to)
}

// operate gives each operation a row: clients in their order, so that one finds them.
func (d *drawing) operate(list []operation) {
	slices.SortStableFunc(list, func(a, b operation) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.Call, b.Call))
	})
	var r rows
	for _, o := range list {
		from, to := history.Time(o.Call), history.Time(o.Return)
		o.ClientId = r.place(fmt.Sprintf("client %d", o.client), from, to, true)
		d.operations = append(d.operations, o.Operation)
	}
	d.clients = r.names
}

// annotate adds what is shown beside the operations.
func (d *drawing) annotate(e *excerpt) {
	shown := e.windowSpans()
	for _, s := range e.spans.all() {
		if s.to >= d.from && s.from <= d.to && d.knows(s.client) {
			shown = append(shown, s)
		}
	}
	shown = append(shown, e.violation())
	for _, t := range slices.Compact(slices.Sorted(slices.Values([]history.Time{d.from, e.place.From, e.place.To, d.to}))) {
		shown = append(shown, span{row: "~ time", text: at(t), from: t, to: t})
	}
	slices.SortStableFunc(shown, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var r rows
	for _, s := range shown {
		from, to := max(s.from, d.from), min(s.to, d.to)
		row := r.place(inOrder(s.row), from, to, false)
		d.annotations = append(d.annotations, porcupine.Annotation{
			Tag: r.names[row], Start: int64(from), End: int64(to),
			Description: clip(s.text), Details: s.tooltip(), BackgroundColor: s.colour,
		})
	}
	for _, of := range []struct {
		kept  *around[span]
		thing string
	}{{&e.spans.world, "fault"}, {&e.spans.lock, "call"}} {
		if n := of.kept.lost(); n > 0 {
			d.left = append(d.left, words.Count(n, of.thing))
		}
	}
}

// knows reports whether the client has operations in the picture, or nobody has.
func (d *drawing) knows(client int) bool {
	return client == 0 || len(d.operations) == 0 || slices.Contains(d.clients, fmt.Sprintf("client %d", client))
}

// inOrder pads the number in a row's name: the rows are sorted as text.
func inOrder(row string) string {
	words := strings.Split(row, " ")
	if len(words) > 1 && len(words[1]) == 1 && '0' <= words[1][0] && words[1][0] <= '9' {
		words[1] = "\u00a0" + words[1]
	}
	return strings.Join(words, " ")
}

// violation marks the place that the finding names.
func (e *excerpt) violation() span {
	f := e.first
	if e.cut {
		return span{row: "! cut short", text: "the history ends", colour: red, from: e.place.From, to: e.place.To}
	}
	text := fmt.Sprintf("%s %s", f.Property.Code(), f.Verdict)
	if p := f.First; p != nil {
		text += fmt.Sprintf(": clients %d and %d", p.First.Client, p.Second.Client)
	}
	return span{row: "! " + f.Property.Title(), text: text, details: f.Story, colour: red, from: e.place.From, to: e.place.To}
}

func (s span) tooltip() string {
	when := "at " + at(s.from)
	if s.to > s.from {
		when = fmt.Sprintf("%s to %s, %v", at(s.from), at(s.to), s.to.Sub(s.from))
	}
	return strings.TrimPrefix(strings.Join([]string{s.text, when, s.details}, " · "), " · ")
}

// windowSpans shows until when each client may believe that it holds, by either rule.
func (e *excerpt) windowSpans() []span {
	var all []span
	add := func(of *around[checker.Window], what, colour string, concerned bool) {
		for _, w := range of.all() {
			if w.Empty {
				continue
			}
			s := span{
				row: fmt.Sprintf("client %d %s", w.Grant.Client, what), text: "until " + ending(w), colour: colour, from: w.From, to: w.To,
				client: w.Grant.Client, details: fmt.Sprintf("client %d may believe that it holds %q, token %s", w.Grant.Client, w.Grant.Resource, w.Grant.Token),
			}
			if concerned && e.clashes(w) {
				s.colour = red
			}
			all = append(all, s)
		}
	}
	add(&e.leases, "lease", green, e.subject != checker.Section)
	add(&e.sections, "section", yellow, e.subject == checker.Section)
	return all
}

// endings are what ends a window, by the kind of the event.
var endings = map[history.Kind]string{
	history.Release: "release", history.Lost: "told of the loss", history.Lapse: "validity ends",
	history.Expiring: "warned", history.Kill: "death", history.End: "the history ends",
}

func ending(w checker.Window) string { return cmp.Or(endings[w.By], "…") }

// at prints an instant exactly, as a history has it.
func at(t history.Time) string { return time.Duration(t).String() }

// short is as much of a token as a person compares.
func short(token string) string { return words.Token(token) }

// clip shortens what a box has no room for; the tooltip has all of it.
func clip(text string) string {
	if most := words.Cut(text, 52); most != text {
		return most + "…"
	}
	return text
}
