package timelinepage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Read makes the model of a run. If the history is broken, the model shows the part before
// the error and says so. A history without a header is an error.
func Read(run Run) (Model, error) {
	shown, err := run.chooseRange()
	if err != nil {
		return Model{}, err
	}
	var b *builder
	if err := readHistory(run.Open, func(h history.Header) { b = newBuilder(run, h, shown) }, func(e *history.Event) bool { return b.record(e) }); err != nil && b == nil {
		return Model{}, err
	}
	b.finish()
	return b.model(), nil
}

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

// shade sets the lanes of a fault: by the plan or, without one, by the events that it caused.
func (b *builder) shade(shade Shade, lanes []laneKey) Shade {
	affects := b.affected[shade.Number]
	if c := b.clocks; c != nil && shade.Number >= 1 && shade.Number <= len(c.plan) {
		f := &c.plan[shade.Number-1]
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

// shownHolds returns the holds in the order of their grants.
func (b *builder) shownHolds() []*timeline.Held {
	for _, f := range b.run.Report.Findings { // their grants may lie outside the part that is shown
		if f.First != nil {
			b.holds.Of(timeline.Grant(f.First.First))
			b.holds.Of(timeline.Grant(f.First.Second))
		}
	}
	return b.holds.List()
}

// addHold adds the parts of a hold to the lane of its client.
func (b *builder) addHold(h *timeline.Held) {
	for _, p := range h.Parts() {
		s := Span{From: p.From, To: p.To, State: Holding, Text: resourcePrefix(b.several, h.Resource) + "until " + p.Window.Ending(), Open: p.Open, ref: grantRef{h.Client, h.Resource, h.Token}}
		if p.Overdue {
			s.State = Overdue
		}
		b.lanes.add(laneKey{Clients, h.Client}, s)
	}
}

// findings returns what is violated or undecided, and marks it in the lanes.
func (b *builder) findings(grants *grantIndex) []Finding {
	all, last := []Finding{}, checker.Finding{}
	for _, f := range b.run.Report.Findings {
		if f.Verdict != checker.Violated && f.Verdict != checker.Unknown {
			continue
		}
		b.markFinding(f)
		if sameOverlap(last, f) {
			to := &all[len(all)-1]
			to.Also = append(to.Also, Also{Property: title(f.Property), Count: f.Count})
			continue
		}
		last = f
		shown := Finding{Property: title(f.Property), Verdict: f.Verdict, Story: Story(f), Count: f.Count, Grants: grants.involved(f)}
		if w := f.Where; w != nil {
			shown.From, shown.To = w.From, w.To
		}
		all = append(all, shown)
	}
	return all
}

func title(p checker.Property) string { return p.Code() + " " + p.Title() }

// sameOverlap reports whether two findings describe one overlap at one place.
func sameOverlap(a, b checker.Finding) bool {
	return a.Verdict == b.Verdict && checker.SameOverlap(a, b) &&
		a.Where != nil && b.Where != nil && a.Where.From == b.Where.From && a.Where.To == b.Where.To
}

// markFinding marks the time in which two clients hold the lock, or else the place of a
// violation by one client.
func (b *builder) markFinding(f checker.Finding) {
	hasLane := func(client int) bool { return client > 0 && client <= b.header.Clients }
	if p := f.First; p != nil {
		for _, grant := range []checker.Grant{p.First, p.Second} {
			if hasLane(grant.Client) {
				b.addOverlap(grant, p, f.Property.Code())
			}
		}
		return
	}
	if w := f.Where; w != nil && hasLane(w.Client) && f.Verdict == checker.Violated {
		b.lanes.mark(laneKey{Clients, w.Client}, Mark{At: w.From, Kind: "found", Text: title(f.Property), Bad: true})
	}
}

// addOverlap adds an overlap to the lane of one of its clients: one span for all properties.
func (b *builder) addOverlap(grant checker.Grant, p *checker.Pair, code string) {
	key, ref := laneKey{Clients, grant.Client}, grantRef{grant.Client, grant.Resource, grant.Token}
	lane := b.lanes.get(key)
	for i := range lane.Spans {
		if s := &lane.Spans[i]; s.State == Clash && s.From == p.From && s.To == p.To && s.ref == ref {
			s.Text += ", " + code
			return
		}
	}
	b.lanes.add(key, Span{From: p.From, To: p.To, State: Clash, Text: code, Open: p.Open, ref: ref})
}
