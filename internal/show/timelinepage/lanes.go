package timelinepage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
)

// model builds the model of what was read.
func (b *builder) model() Model {
	m := Model{End: b.shown.end, Clients: b.header.Clients, Nodes: b.header.Nodes, From: b.shown.from, To: b.shown.to, Shades: []Shade{}}
	omitted := b.shown.omitted()
	holds := b.shownHolds()
	index := newGrantIndex(holds)
	for _, h := range holds {
		b.addHold(h)
	}
	b.service(&index)
	m.Grants, m.Finds = index.list, b.findings(&index)
	if b.clocks != nil {
		b.clocks.lanes(b.lanes)
		if b.clocks.stopped {
			omitted = append(omitted, "Clocks are followed for a part of the time up to "+instant(b.shown.to)+" only: they were changed too often.")
		}
	}
	keys, left := b.shownLanes(m.Finds, index.list)
	omitted = append(omitted, left...)
	for _, key := range keys {
		lane := b.lanes.get(key)
		lane.settle(index.find)
		m.Lanes = append(m.Lanes, *lane)
	}
	m.placeSteps()
	for i := range m.Grants {
		m.Grants[i].Resource = textfmt.Name(m.Grants[i].Resource)
	}
	if left := m.dropAccesses(); left != "" {
		omitted = append(omitted, left)
	}
	for _, s := range b.shades {
		m.Shades = append(m.Shades, b.shade(s, keys))
	}
	slices.SortStableFunc(m.Shades, func(a, b Shade) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Number, b.Number))
	})
	m.Omitted = strings.Join(omitted, " ")
	return m
}

// service adds the lanes of the service, and the waiting times to those of the clients.
func (b *builder) service(grants *grantIndex) {
	acquire, tries := b.lanes.get(acquireLane), b.lanes.get(triesLane)
	b.lanes.get(availabilityLane) // is shown even if it is empty
	acquire.Samples, acquire.Unit = b.latencies, "ns"
	tries.Unit = "tries"
	for _, w := range b.waits {
		text, how := textfmt.Count(w.Tries, "try"), ", in vain"
		switch {
		case w.Granted:
			tries.Samples = append(tries.Samples, Sample{At: w.To, Value: float64(w.Tries)})
			how = ", granted"
		case w.Open:
			how = ""
		}
		b.lanes.add(laneKey{Clients, w.Client}, Span{
			From: w.From, To: w.To, State: Waiting, Grant: grants.after(w), Text: resourcePrefix(b.several, w.Resource) + text + how, Open: w.Open,
		})
	}
	for _, o := range b.outages {
		b.lanes.add(availabilityLane, Span{From: o.From, To: o.To, State: Outage, Text: strings.TrimSuffix(resourcePrefix(b.several, o.Resource), ", ")})
	}
}

// resourcePrefix names a resource if there are several.
func resourcePrefix(several bool, resource string) string {
	if !several {
		return ""
	}
	return fmt.Sprintf("%q, ", textfmt.Name(resource))
}

// shownLanes returns the lanes in their order. If there are too many clients it drops the
// least busy ones without a finding, and says so.
func (b *builder) shownLanes(findings []Finding, grants []Grant) (shown []laneKey, left []string) {
	for n := 1; n <= b.header.Nodes; n++ {
		b.lanes.get(laneKey{Nodes, n})
	}
	if b.header.Clients <= MostClients {
		for n := 1; n <= b.header.Clients; n++ {
			b.lanes.get(laneKey{Clients, n})
		}
	}
	var clients []laneKey
	for l := range b.lanes {
		if l.group == Clients {
			clients = append(clients, l)
		} else {
			shown = append(shown, l)
		}
	}
	if len(clients) > MostClients {
		b.sortByActivity(clients, findings, grants)
		left = append(left, fmt.Sprintf("Of %s clients the %d busiest are shown.", textfmt.Grouped(len(clients)), MostClients))
		clients = clients[:MostClients]
	}
	shown = append(shown, clients...)
	slices.SortFunc(shown, laneKey.compare)
	return shown, left
}

// sortByActivity puts clients of findings first, and then the busiest.
func (b *builder) sortByActivity(clients []laneKey, findings []Finding, grants []Grant) {
	found := map[int]bool{}
	for _, f := range findings {
		for _, g := range f.Grants {
			found[grants[g].Client] = true
		}
	}
	weight := func(l laneKey) int {
		n := len(b.lanes[l].Spans) + len(b.lanes[l].Marks)
		if found[l.number] {
			n += MostEvents
		}
		return n
	}
	slices.SortFunc(clients, func(a, b laneKey) int { return cmp.Or(cmp.Compare(weight(b), weight(a)), a.compare(b)) })
}

// dropAccesses drops the accesses if there are too many, and says so.
func (m *Model) dropAccesses() string {
	isAccess := func(s Span) bool { return s.State == Access }
	n := 0
	for _, l := range m.Lanes {
		for _, s := range l.Spans {
			if isAccess(s) {
				n++
			}
		}
	}
	if n <= MostAccesses {
		return ""
	}
	for i := range m.Lanes {
		m.Lanes[i].Spans = slices.DeleteFunc(m.Lanes[i].Spans, isAccess)
	}
	return fmt.Sprintf("%s accesses of clients to the guarded resource are not shown.", textfmt.Grouped(n))
}

// laneKey identifies a lane by its group and the number of the client, node, clock or
// measurement.
type laneKey struct {
	group  Group
	number int
}

// The lanes without a client or node.
var (
	guardedLane      = laneKey{Guarded, 0}
	storeLane        = laneKey{Store, 0}
	acquireLane      = laneKey{Service, 1}
	triesLane        = laneKey{Service, 2}
	availabilityLane = laneKey{Service, 3}
)

func (l laneKey) String() string {
	switch {
	case l == guardedLane || l == storeLane:
		return string(l.group)
	case l == acquireLane:
		return "time to acquire"
	case l == triesLane:
		return "tries a grant"
	case l == availabilityLane:
		return "availability"
	case l.group == Clients:
		return fmt.Sprintf("client %d", l.number)
	}
	return fmt.Sprintf("node %d", l.number)
}

// groups lists all groups in their order.
var groups = []Group{Clients, Guarded, Nodes, Store, Clocks, Service}

func (l laneKey) compare(m laneKey) int {
	return cmp.Or(cmp.Compare(slices.Index(groups, l.group), slices.Index(groups, m.group)), cmp.Compare(l.number, m.number))
}

// grantRef is what an event says of its grant. The grant is looked up when all are known.
type grantRef struct {
	client   int // 0: unknown
	resource string
	token    string // "": there is no grant
}

func refOf(e *history.Event) grantRef { return grantRef{e.Client, e.Resource, e.Token} }

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

// noteAffected notes which clients and nodes the fault behind an event affects.
func (b *builder) noteAffected(e *history.Event) {
	if e.Fault == 0 || e.Kind == history.FaultStart || e.Kind == history.FaultEnd {
		return
	}
	if b.affected[e.Fault] == nil {
		b.affected[e.Fault] = map[laneKey]bool{}
	}
	b.affected[e.Fault][laneKey{Clients, e.Client}] = true
	b.affected[e.Fault][laneKey{Nodes, e.Node}] = true
}

// shade sets the lanes of a fault: by the plan or, without one, by the events that it caused.
func (b *builder) shade(shade Shade, lanes []laneKey) Shade {
	affects := b.affected[shade.Number]
	if s := b.run.Scenario; s != nil && shade.Number >= 1 && shade.Number <= len(s.Plan) {
		f := &s.Plan[shade.Number-1]
		if shade.Open && f.Momentary() { // the history has no end of it
			shade.To, shade.Open = shade.From, false
		}
		affects = map[laneKey]bool{}
		clients, nodes := nemesis.Named(f.Action)
		for _, n := range clients {
			affects[laneKey{Clients, n}] = true
		}
		for _, n := range nodes {
			affects[laneKey{Nodes, n}] = true
		}
	}
	for i, l := range lanes {
		if affects[l] || l.group == Clocks && affects[laneOf(machineOf(l.number))] {
			shade.Lanes = append(shade.Lanes, i)
		}
	}
	return shade
}
