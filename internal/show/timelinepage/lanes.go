package timelinepage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// resourcePrefix names a resource if there are several.
func resourcePrefix(several bool, resource string) string {
	if !several {
		return ""
	}
	return fmt.Sprintf("%q, ", textfmt.Name(resource))
}

// laneBuilders are all lanes of a timeline. Spans and marks may not know their grants yet.
type laneBuilders map[laneKey]*Lane

// get returns a lane, and adds it if it is missing.
func (all laneBuilders) get(l laneKey) *Lane {
	if all[l] == nil {
		all[l] = &Lane{Group: l.group, Name: l.String()}
	}
	return all[l]
}

func (all laneBuilders) add(l laneKey, s Span) {
	lane := all.get(l)
	lane.Spans = append(lane.Spans, s)
}

func (all laneBuilders) mark(l laneKey, m Mark) {
	lane := all.get(l)
	lane.Marks = append(lane.Marks, m)
}

// settle looks up the grants of a lane, and sorts it by time.
func (l *Lane) settle(find func(grantRef, history.Time) int) {
	for i := range l.Spans {
		s := &l.Spans[i]
		if s.State != Waiting { // a wait has its grant
			s.Grant, s.ref = find(s.ref, s.From), grantRef{}
		}
	}
	for i := range l.Marks {
		m := &l.Marks[i]
		m.Grant, m.ref = find(m.ref, m.At), grantRef{}
	}
	states := States()
	slices.SortStableFunc(l.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)), cmp.Compare(a.To, b.To), cmp.Compare(a.Grant, b.Grant))
	})
	slices.SortStableFunc(l.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(l.Samples, func(a, b Sample) int { return cmp.Compare(a.At, b.At) })
}
