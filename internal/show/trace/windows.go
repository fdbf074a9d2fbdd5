package trace

import (
	"fmt"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// windows are the windows of all holds in the order of their begins, as the checker of exclusion sees them.
type windows []timeline.Window

// windowsOf returns the windows of the holds of the past that a property is about.
func windowsOf(past timeline.Past, p checker.Property) windows {
	if p == checker.Section {
		return past.Windows(timeline.SectionWindow)
	}
	return past.Windows(timeline.LeaseWindow)
}

// inMs prints an instant in milliseconds, to the microsecond.
func inMs(at history.Time) string {
	us := int64(at) / 1000
	return fmt.Sprintf("%d.%03d", us/1000, us%1000)
}

// of describes the window that a grant begins.
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

// overlap is two windows of a resource that share time. If it is late, the first is an
// extension, and the second lies between the end of the hold and the extension.
type overlap struct {
	first, second timeline.Window
	from, to      history.Time
	late          bool
}

// overlaps returns the windows that share time: each non-empty window with those that
// begin before it ends, and each late one with the window in between.
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

// between returns the window that ended last while the hold of a late window was over.
func (w windows) between(late timeline.Window) (last timeline.Window, is bool) {
	for _, v := range w {
		if late.Late && !v.Empty && v.Grant.Resource == late.Grant.Resource && v.To > late.Over && (v.To <= late.From || late.Empty && v.From < late.From) && v.To > last.To {
			last, is = v, true
		}
	}
	return last, is
}

func (o overlap) words(title string) string {
	if o.late {
		return fmt.Sprintf("%s is broken: %s goes on holding %q, which was over at %s, and %s held it to %s",
			title, client(o.first.Grant.Client), o.first.Grant.Resource, inMs(o.first.Over), client(o.second.Grant.Client), inMs(o.to))
	}
	return fmt.Sprintf("%s is broken: %s and %s both hold %q, to %s",
		title, client(o.first.Grant.Client), client(o.second.Grant.Client), o.second.Grant.Resource, inMs(o.to))
}
