package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// lane is which lane something belongs to: a group, and the number of the client or node
// or, in the group of the service, of what is told.
type lane struct {
	group  Group
	number int
}

// owner is whose doing something is: by it the grant is found, once all are known.
type owner struct {
	client   int // 0: not known
	resource string
	token    string // empty: it is not looked for
}

// row is a lane in the making.
type row struct {
	Lane
	spans, marks []owner // of those of the lane
}

// rows are the lanes in the making.
type rows map[lane]*row

func (r rows) of(l lane) *row {
	if r[l] == nil {
		r[l] = &row{Lane: Lane{Group: l.group, Name: l.String()}}
	}
	return r[l]
}

// add adds a span whose grant is found later.
func (r rows) add(l lane, s Span, of owner) {
	s.Grant = -1
	r.addOf(l, s)
	to := r.of(l)
	to.spans[len(to.spans)-1] = of
}

// addOf adds a span of which it is known whose it is.
func (r rows) addOf(l lane, s Span) {
	to := r.of(l)
	to.Spans, to.spans = append(to.Spans, s), append(to.spans, owner{})
}

// mark adds a mark whose grant is found later.
func (r rows) mark(l lane, m Mark, of owner) {
	m.Grant = -1
	to := r.of(l)
	to.Marks, to.marks = append(to.Marks, m), append(to.marks, of)
}

// names are those of lanes that have no number.
var names = map[lane]string{
	{Guarded, 0}: "guarded resource", {Store, 0}: "store",
	acquiring: "time to acquire", trying: "tries a grant", available: "availability",
}

// The lanes of the service.
var (
	acquiring = lane{Service, 1}
	trying    = lane{Service, 2}
	available = lane{Service, 3}
)

func (l lane) String() string {
	if name, is := names[l]; is {
		return name
	}
	if l.group == Clients {
		return fmt.Sprintf("client %d", l.number)
	}
	return fmt.Sprintf("node %d", l.number)
}

// groups are all groups, in their order.
var groups = []Group{Clients, Guarded, Nodes, Store, Clocks, Service}

func (l lane) compare(m lane) int {
	return cmp.Or(cmp.Compare(slices.Index(groups, l.group), slices.Index(groups, m.group)), cmp.Compare(l.number, m.number))
}

// settle finds the grants of what is in the lane, and puts it in the order of time.
func (r *row) settle(find func(owner, history.Time) int) {
	for i, of := range r.spans {
		if of.token != "" {
			r.Spans[i].Grant = find(of, r.Spans[i].From)
		}
	}
	for i, of := range r.marks {
		if of.token != "" {
			r.Marks[i].Grant = find(of, r.Marks[i].At)
		}
	}
	states := States()
	slices.SortStableFunc(r.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)), cmp.Compare(a.To, b.To), cmp.Compare(a.Grant, b.Grant))
	})
	slices.SortStableFunc(r.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(r.Samples, func(a, b Sample) int { return cmp.Compare(a.At, b.At) })
}
