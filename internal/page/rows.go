package page

import (
	"fmt"
	"slices"
)

// rows places intervals in rows without overlaps. An interval that overlaps another of its name
// gets a further row.
type rows struct {
	names []string
	busy  [][]interval
}

type interval struct{ from, to int64 }

// place returns the row, from 0, for an interval. closed: intervals that touch overlap.
func (r *rows) place(name string, v interval, closed bool) int {
	title := name
	for again := 2; ; again++ {
		i := r.find(title)
		if !r.taken(i, v, closed) {
			r.busy[i] = append(r.busy[i], v)
			return i
		}
		title = fmt.Sprintf("%s (%d)", name, again)
	}
}

func (r *rows) find(title string) int {
	if i := slices.Index(r.names, title); i >= 0 {
		return i
	}
	r.names, r.busy = append(r.names, title), append(r.busy, nil)
	return len(r.names) - 1
}

func (r *rows) taken(row int, v interval, closed bool) bool {
	for _, b := range r.busy[row] {
		switch {
		case v.from > b.to || b.from > v.to:
		case closed || v == b || v.from < b.to && b.from < v.to:
			return true
		case v.from == v.to && (v.from == b.from || v.from == b.to), b.from == b.to && (b.from == v.from || b.from == v.to):
			return true // a point is drawn with a width
		}
	}
	return false
}
