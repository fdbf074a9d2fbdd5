package counterexample

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
)

// windowSpans shows until when each client may believe that it holds, by the rule that
// the picture is about, and where the other rule differs, by that.
func (e *excerpt) windowSpans(d *drawing) []span {
	own, other := rule{&e.leases, "lease", green}, rule{&e.sections, "section", yellow}
	if e.subject == checker.Section {
		own, other = other, own
	}
	windows := own.all()
	var all []span
	for _, w := range windows {
		if w.Empty {
			continue
		}
		s := own.span(w, e.ending(w))
		if e.clashes(w) {
			s.colour = red
		}
		all = append(all, s)
	}
	for _, w := range other.all() {
		if w.Empty {
			continue
		}
		if slices.ContainsFunc(windows, func(v checker.Window) bool { return is(v.Grant, w.Grant) && v.From == w.From && v.To == w.To }) {
			d.legend = fmt.Sprintf(" Where a hold has no %s row, its %s lasts as long as its %s.", other.name, other.name, own.name)
			continue
		}
		all = append(all, other.span(w, e.ending(w)))
	}
	return all
}

// rule is one of the two by which a hold excludes others.
type rule struct {
	*around[checker.Window]
	name   string
	colour string
}

func (r rule) span(w checker.Window, ending string) span {
	g := w.Grant
	return span{
		row:  fmt.Sprintf("client %d %s", g.Client, r.name),
		text: fmt.Sprintf("%s by %s until %s", named(g.Resource), short(g.Token), ending), colour: r.colour, from: w.From, to: w.To,
		client: g.Client, details: fmt.Sprintf("client %d may believe that it holds %q, token %s", g.Client, g.Resource, g.Token),
	}
}

// ending is what ended the window, if it did before the reading did.
func (e *excerpt) ending(w checker.Window) string {
	if w.By == 0 && e.stopped {
		return "later"
	}
	return w.Ending()
}
