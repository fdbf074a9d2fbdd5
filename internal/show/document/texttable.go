package document

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// TableOf is a text table on a page. mark gives a cell its meaning; it may be nil.
func TableOf(t *textfmt.Table, mark func(column, text string) Mark) Table {
	out := Table{Columns: Named(t.Head...)}
	for _, l := range t.Lines {
		if len(l) == 1 {
			out.Head(l[0])
			continue
		}
		cells := make([]Cell, len(l))
		for i, text := range l {
			cells[i] = CellOf(text)
			if mark != nil {
				cells[i].Mark = mark(t.Head[i], text)
			}
		}
		out.Add(cells...)
	}
	return out
}

var (
	quotient = regexp.MustCompile(`^(\d+)/(\d+)`)
	leading  = regexp.MustCompile(`^\[?(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?: %|,.*\]|)$`)
)

// CellOf is a cell that is sorted by the number in its text, if it has one: a number, a share,
// the low end of an interval, k of n, a duration.
func CellOf(text string) Cell {
	if m := quotient.FindStringSubmatch(text); m != nil {
		k, _ := strconv.ParseFloat(m[1], 64)
		if n, _ := strconv.ParseFloat(m[2], 64); n > 0 {
			return Number(k/n, text)
		}
	}
	if m := leading.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			return Number(v, text)
		}
	}
	if d, err := time.ParseDuration(text); err == nil {
		return Number(d.Seconds(), text)
	}
	return Text(text)
}
