package counterexample

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// rows lays what has a name and a time into rows, so that nothing lies over anything
// else: what overlaps something of its name gets a further row.
type rows struct {
	names []string
	busy  [][]interval
}

type interval struct{ from, to history.Time }

// place returns the row, from 0, for something of a name. closed says that what touches
// overlaps.
func (r *rows) place(name string, from, to history.Time, closed bool) int {
	title := name
	for again := 2; ; again++ {
		i := r.find(title)
		if !r.taken(i, interval{from, to}, closed) {
			r.busy[i] = append(r.busy[i], interval{from, to})
			return i
		}
		title = fmt.Sprintf("%s (%d)", name, again)
	}
}

func (r *rows) find(title string) int {
	for i, name := range r.names {
		if name == title {
			return i
		}
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
