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

// Windows returns the windows of all holds in the order in which they began, as the judge
// of lease or section exclusion sees them.
func (t *Trace) Windows(p checker.Property) (all []checker.Window) {
	panel := checker.New(t.header, p)
	panel.Windows(p, func(w checker.Window) { all = append(all, w) })
	for _, r := range t.records {
		if h, is := r.what.(Happened); is {
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
		case one.Empty && !one.Late:
			return "; its window is over already"
		case one.By == 0:
			return "; its window never ends"
		default:
			return fmt.Sprintf("; its window ends at %s (%v)", inMs(one.To), one.By)
		}
	}
	return ""
}

// overlap is two windows of a resource that share some time, or would if the hold of the
// first had gone on, as an extension says with which the first begins.
type overlap struct {
	first, second checker.Window
	from, to      history.Time
	late          bool
}

// overlaps finds what shares time: of those that are not empty, each with those that
// begin before it ends; of those that are late, also what lay in between.
func (w windows) overlaps() (list []overlap) {
	for i, a := range w {
		if b, is := w.between(a); is {
			list = append(list, overlap{a, b, max(a.Over, b.From), b.To, true})
		}
		for _, b := range w[i+1:] {
			if b.From >= a.To {
				break
			}
			if !a.Empty && !b.Empty && a.Grant.Resource == b.Grant.Resource {
				list = append(list, overlap{a, b, b.From, min(a.To, b.To), false})
			}
		}
	}
	return list
}

// between returns the window that ended last while the hold of a late one was over.
func (w windows) between(late checker.Window) (last checker.Window, is bool) {
	for _, v := range w {
		if late.Late && !v.Empty && v.Grant.Resource == late.Grant.Resource && v.To > late.Over && (v.To <= late.From || late.Empty && v.From < late.From) && v.To > last.To {
			last, is = v, true
		}
	}
	return last, is
}

// shows reports whether it is what is told that shows it.
func (o overlap) shows(l Line) bool {
	h, is := l.Heard.(Happened)
	came, at := o.second, o.from
	if o.late {
		came, at = o.first, o.first.From
	}
	return is && h.Time == at && h.Token == came.Grant.Token && (h.Kind == history.Granted || h.Kind == history.Extended)
}

func (o overlap) words(title string) string {
	if o.late {
		return fmt.Sprintf("%s is broken: %s goes on holding %q, which was over at %s, and %s held it to %s",
			title, clientName(o.first.Grant.Client), o.first.Grant.Resource, inMs(o.first.Over), clientName(o.second.Grant.Client), inMs(o.to))
	}
	return fmt.Sprintf("%s is broken: %s and %s both hold %q, to %s",
		title, clientName(o.first.Grant.Client), clientName(o.second.Grant.Client), o.second.Grant.Resource, inMs(o.to))
}
