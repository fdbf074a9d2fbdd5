package timeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
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
