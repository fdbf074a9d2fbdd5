package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// model puts together what was read.
func (r *reading) model() Model {
	m := Model{End: r.shown.end, Clients: r.header.Clients, Nodes: r.header.Nodes, From: r.shown.from, To: r.shown.to}
	omitted := r.shown.omitted()
	holds := r.holds()
	found := newGrants(holds)
	for _, h := range holds {
		h.spans(r.rows, r.several)
	}
	r.service(&found)
	m.Grants, m.Finds = found.list, r.finds(&found)
	if r.clocks != nil {
		r.clocks.lanes(r.rows)
		if r.clocks.stopped {
			omitted = append(omitted, "What clocks have shown is followed up to "+instant(r.shown.to)+" in part only: they were moved too often.")
		}
	}
	lanes, left := r.lanes(m.Finds, found.list)
	omitted = append(omitted, left...)
	for _, l := range lanes {
		row := r.rows.of(l)
		row.settle(found.find)
		m.Lanes = append(m.Lanes, row.Lane)
	}
	if left := m.dropAccesses(); left != "" {
		omitted = append(omitted, left)
	}
	m.Shades = []Shade{}
	for _, s := range r.shades {
		m.Shades = append(m.Shades, r.shade(s, lanes))
	}
	order(m.Shades)
	m.Omitted = strings.Join(omitted, " ")
	return m
}

// service adds the lanes of waiting, and what clients wait for.
func (r *reading) service(g *grants) {
	for _, l := range []lane{acquiring, trying, available} {
		r.rows.of(l)
	}
	r.rows.of(acquiring).Samples, r.rows.of(acquiring).Unit = r.latencies, "ns"
	tries := r.rows.of(trying)
	tries.Unit = "tries"
	for _, w := range r.waits {
		text, how := textfmt.Count(w.Tries, "try"), ", in vain"
		switch {
		case w.Granted:
			tries.Samples = append(tries.Samples, Sample{At: w.To, Value: float64(w.Tries)})
			how = ", granted"
		case w.Open:
			how = ""
		}
		r.rows.addOf(lane{Clients, w.Client}, Span{
			From: w.From, To: w.To, State: Waiting, Grant: g.after(w), Text: r.prefix(w.Resource) + text + how, Open: w.Open,
		})
	}
	for _, o := range r.outages {
		r.rows.add(available, Span{From: o.From, To: o.To, State: Outage, Text: strings.TrimSuffix(r.prefix(o.Resource), ", ")}, owner{})
	}
}

// prefix names a resource where there are several.
func (r *reading) prefix(resource string) string {
	if !r.several {
		return ""
	}
	return fmt.Sprintf("%q, ", resource)
}

// lanes returns the lanes that are shown, in their order: of all clients and nodes, and of
// what else there is. Of very many clients those are left out of which least is to be seen,
// but for those that are found in something.
func (r *reading) lanes(finds []Find, all []Grant) (shown []lane, left []string) {
	for n := 1; n <= r.header.Nodes; n++ {
		r.rows.of(lane{Nodes, n})
	}
	if r.header.Clients <= MostClients {
		for n := 1; n <= r.header.Clients; n++ {
			r.rows.of(lane{Clients, n})
		}
	}
	var clients []lane
	for l := range r.rows {
		if l.group == Clients {
			clients = append(clients, l)
		} else {
			shown = append(shown, l)
		}
	}
	if len(clients) > MostClients {
		r.busiest(clients, finds, all)
		left = append(left, fmt.Sprintf("Of %s clients the %d are shown of which there is most to see.", textfmt.Grouped(len(clients)), MostClients))
		clients = clients[:MostClients]
	}
	shown = append(shown, clients...)
	slices.SortFunc(shown, lane.compare)
	return shown, left
}

// busiest puts clients first that are found in something, and then those of which there is
// most to see.
func (r *reading) busiest(clients []lane, finds []Find, all []Grant) {
	accused := map[int]bool{}
	for _, f := range finds {
		for _, g := range f.Grants {
			accused[all[g].Client] = true
		}
	}
	weight := func(l lane) int {
		row := r.rows[l]
		n := len(row.Spans) + len(row.Marks)
		if accused[l.number] {
			n += MostEvents
		}
		return n
	}
	slices.SortFunc(clients, func(a, b lane) int {
		if w := weight(b) - weight(a); w != 0 {
			return w
		}
		return a.compare(b)
	})
}

// dropAccesses leaves accesses out if there are too many, and says so.
func (m *Model) dropAccesses() string {
	is := func(s Span) bool { return s.State == Access }
	n := 0
	for _, l := range m.Lanes {
		for _, s := range l.Spans {
			if is(s) {
				n++
			}
		}
	}
	if n <= MostAccesses {
		return ""
	}
	for i := range m.Lanes {
		m.Lanes[i].Spans = slices.DeleteFunc(m.Lanes[i].Spans, is)
	}
	return fmt.Sprintf("%s accesses of clients to the guarded resource are not shown.", textfmt.Grouped(n))
}

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

// shade is a fault, before it is known which lanes there are.
type shade struct {
	number   int
	name     string
	from, to history.Time
	open     bool
}

// whom are the clients and nodes that a fault is about.
type whom struct{ clients, nodes map[int]bool }

// hit takes note of whom a fault strikes, as an event tells that it has brought about.
func (r *reading) hit(e *history.Event) {
	if e.Fault == 0 || e.Kind == history.FaultStart || e.Kind == history.FaultEnd {
		return
	}
	w := r.of(e.Fault)
	if e.Client > 0 {
		w.clients[e.Client] = true
	}
	if e.Node > 0 {
		w.nodes[e.Node] = true
	}
}

func (r *reading) of(fault int) *whom {
	if r.whom[fault] == nil {
		r.whom[fault] = &whom{map[int]bool{}, map[int]bool{}}
	}
	return r.whom[fault]
}

// planned returns a fault of the plan, if that is known.
func (r *reading) planned(number int) *nemesis.Fault {
	if s := r.run.Scenario; s != nil && number >= 1 && number <= len(s.Plan) {
		return &s.Plan[number-1]
	}
	return nil
}

// shade makes the shade of a fault. One that the plan says is over as soon as it has begun
// has no length, though its history tells no end.
func (r *reading) shade(s shade, lanes []lane) Shade {
	v := Shade{Number: s.number, Name: s.name, From: s.from, To: s.to, Open: s.open}
	w := r.of(s.number)
	if f := r.planned(s.number); f != nil {
		if s.open && f.Momentary() {
			v.To, v.Open = s.from, false
		}
		clients, nodes := nemesis.Named(f.Action)
		w = &whom{set(clients), set(nodes)}
	}
	for i, l := range lanes {
		if w.concerns(l) {
			v.Lanes = append(v.Lanes, i)
		}
	}
	return v
}

func (w *whom) concerns(l lane) bool {
	switch l.group {
	case Clients:
		return w.clients[l.number]
	case Nodes:
		return w.nodes[l.number]
	case Clocks:
		m := machine(l.number)
		return w.clients[m.Client] || w.nodes[m.Node]
	}
	return false
}

func set(list []int) map[int]bool {
	all := make(map[int]bool, len(list))
	for _, n := range list {
		all[n] = true
	}
	return all
}

// order puts shades in the order in which they began.
func order(all []Shade) {
	slices.SortStableFunc(all, func(a, b Shade) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Number, b.Number))
	})
}
