package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// windows are those of all holds, as the judge of exclusion sees them.
type windows []checker.Window

// windowsOf asks the judge of lease or section exclusion.
func (t *Trace) windowsOf(p checker.Property) (all windows) {
	panel := checker.NewPanel(t.header, p)
	panel.Windows(p, func(w checker.Window) { all = append(all, w) })
	for _, r := range t.records {
		if h, is := r.what.(happened); is {
			panel.Record(h.Event)
		}
	}
	panel.Finish()
	slices.SortStableFunc(all, func(a, b checker.Window) int { return cmp.Compare(a.From, b.From) })
	return all
}

// of tells the window that a grant begins.
func (w windows) of(e *history.Event) string {
	for _, one := range w {
		switch {
		case one.Grant.Token != e.Token || one.From != e.Time || one.Grant.Client != e.Client:
		case one.Empty:
			return "; its window is over already"
		case one.By == 0:
			return "; its window never ends"
		default:
			return fmt.Sprintf("; its window ends at %s (%v)", inMs(one.To), one.By)
		}
	}
	return ""
}

// overlap is two windows of a resource that share some time.
type overlap struct {
	first, second checker.Window
	from, to      history.Time
}

// overlaps finds what shares time: of those that are not empty, each with those that
// begin before it ends.
func (w windows) overlaps() (list []overlap) {
	for i, a := range w {
		for _, b := range w[i+1:] {
			if b.From >= a.To {
				break
			}
			if !a.Empty && !b.Empty && a.Grant.Resource == b.Grant.Resource {
				list = append(list, overlap{a, b, b.From, min(a.To, b.To)})
			}
		}
	}
	return list
}

// begins reports whether it begins with what is told.
func (o overlap) begins(r record) bool {
	h, is := r.what.(happened)
	return is && h.Time == o.from && h.Token == o.second.Grant.Token && (h.Kind == history.Granted || h.Kind == history.Extended)
}

func (o overlap) words(title string) string {
	return fmt.Sprintf("%s is broken: %s and %s both hold %q, to %s",
		title, clientName(o.first.Grant.Client), clientName(o.second.Grant.Client), o.second.Grant.Resource, inMs(o.to))
}
