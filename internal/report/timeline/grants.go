package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/follow"
)

// hold is a grant with the windows of it that are shown.
type hold struct {
	checker.Grant
	fence            uint64
	leases, sections []checker.Window
}

// same is what the windows of one grant have in common.
type same struct {
	owner
	call history.Time
}

func sameOf(g checker.Grant) same { return same{owner{g.Client, g.Resource, g.Token}, g.Call} }

// holds puts windows of one grant together, in the order in which they were granted.
func (r *reading) holds() []*hold {
	by := map[same]*hold{}
	var all []*hold
	of := func(g checker.Grant, fence uint64) *hold {
		h := by[sameOf(g)]
		if h == nil {
			h = &hold{Grant: g, fence: fence}
			by[sameOf(g)] = h
			all = append(all, h)
		}
		h.Granted = min(h.Granted, g.Granted)
		return h
	}
	for _, w := range r.leases {
		h := of(w.Grant, w.Fence)
		h.leases = append(h.leases, w)
	}
	for _, w := range r.sections {
		h := of(w.Grant, w.Fence)
		h.sections = append(h.sections, w)
	}
	for _, f := range r.run.Report.Findings { // whose grants may be of another part of the history
		if f.First != nil {
			of(f.First.First, 0)
			of(f.First.Second, 0)
		}
	}
	for _, h := range all {
		slices.SortStableFunc(h.leases, func(a, b checker.Window) int { return cmp.Compare(a.From, b.From) })
	}
	slices.SortFunc(all, func(a, b *hold) int {
		return cmp.Or(cmp.Compare(a.Granted, b.Granted), cmp.Compare(a.Call, b.Call), cmp.Compare(a.Client, b.Client), strings.Compare(a.Token, b.Token), strings.Compare(a.Resource, b.Resource))
	})
	return all
}

// tell makes of it what the page tells.
func (h *hold) tell() Grant {
	g := Grant{Client: h.Client, Resource: h.Resource, Token: h.Token, Call: h.Call, Granted: h.Granted, To: h.Granted, Fence: h.fence}
	var last []checker.Window // of each rule
	for _, list := range [][]checker.Window{h.leases, h.sections} {
		if n := len(list); n > 0 {
			last = append(last, list[n-1])
			g.To = max(g.To, list[n-1].To)
		}
	}
	g.How = ended(last)
	return g
}

// ended says what ended the windows of a grant: each once, in the order of time.
func ended(last []checker.Window) string {
	slices.SortStableFunc(last, func(a, b checker.Window) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(b.By, a.By))
	})
	var all []string
	for i, w := range last {
		if i > 0 && w.Ending() == last[i-1].Ending() {
			continue
		}
		switch {
		case w.By == 0:
			all = append(all, "it goes on when the history ends")
		case w.Empty && !w.Late:
			all = append(all, "nothing was left of its validity when it was granted")
		default:
			all = append(all, fmt.Sprintf("%s at %s", w.Ending(), instant(w.To)))
		}
	}
	if len(all) == 0 {
		return "what became of it is not shown"
	}
	return strings.Join(all, ", ")
}

// spans shows a hold: within its validity, and past it as long as its holder may go on.
func (h *hold) spans(to rows, several bool) {
	l, of := lane{Clients, h.Client}, owner{h.Client, h.Resource, h.Token}
	name := ""
	if several {
		name = fmt.Sprintf("%q, ", h.Resource)
	}
	add := func(state State, from, until history.Time, w checker.Window) {
		if until > from {
			to.add(l, Span{From: from, To: until, State: state, Text: name + "until " + w.Ending(), Open: w.By == 0 && until == w.To}, of)
		}
	}
	for _, w := range h.leases {
		add(Holding, w.From, w.To, w)
	}
	for _, w := range h.sections {
		for from, to := range follow.Overdue(w, h.leases) {
			add(Overdue, from, to, w)
		}
	}
}

// grants finds grants by whose they are.
type grants struct {
	list []Grant
	by   map[owner][]int // in the order of their calls
	at   map[won]int
}

// won is when a client got a resource.
type won struct {
	client   int
	resource string
	at       history.Time
}

func newGrants(holds []*hold) grants {
	g := grants{by: map[owner][]int{}, at: map[won]int{}, list: []Grant{}}
	for i, h := range holds {
		g.list = append(g.list, h.tell())
		g.at[won{h.Client, h.Resource, h.Granted}] = i
		for _, o := range []owner{{h.Client, h.Resource, h.Token}, {0, h.Resource, h.Token}, {0, "", h.Token}} {
			g.by[o] = append(g.by[o], i)
		}
	}
	for _, list := range g.by {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(g.list[a].Call, g.list[b].Call) })
	}
	return g
}

// find returns the index of the grant that something at an instant was about, or -1: the
// last that had been called by then.
func (g *grants) find(o owner, at history.Time) int {
	list := g.by[o]
	i := sort.Search(len(list), func(i int) bool { return g.list[list[i]].Call > at })
	if i == 0 {
		return -1
	}
	return list[i-1]
}

// after returns the index of the grant that a wait ended with, or -1.
func (g *grants) after(w checker.Wait) int {
	if i, is := g.at[won{w.Client, w.Resource, w.To}]; is && w.Granted {
		return i
	}
	return -1
}

// index returns the index of a grant of a finding.
func (g *grants) index(of checker.Grant) int {
	for _, i := range g.by[sameOf(of).owner] {
		if g.list[i].Call == of.Call {
			return i
		}
	}
	return -1
}

// finds makes finds of what is violated or open, and marks them in the lanes.
func (r *reading) finds(g *grants) []Find {
	all, last := []Find{}, checker.Finding{}
	for _, f := range r.run.Report.Findings {
		if f.Verdict != checker.Violated && f.Verdict != checker.Unknown {
			continue
		}
		r.markFind(f)
		if tellsSame(last, f) {
			to := &all[len(all)-1]
			to.Also = append(to.Also, Also{Property: named(f.Property), Count: f.Count})
			continue
		}
		last = f
		find := Find{Property: named(f.Property), Verdict: f.Verdict, Story: f.Lines(), Count: f.Count}
		if w := f.Where; w != nil {
			find.From, find.To = w.From, w.To
		}
		find.Grants = grantsOf(f, g)
		all = append(all, find)
	}
	return all
}

// named is a property by its code and its title.
func named(p checker.Property) string { return p.Code() + " " + p.Title() }

// tellsSame reports whether two findings tell of one overlap at one place.
func tellsSame(one, other checker.Finding) bool {
	return one.Verdict == other.Verdict && checker.SameOverlap(one, other) &&
		one.Where != nil && other.Where != nil && one.Where.From == other.Where.From && one.Where.To == other.Where.To
}

// markFind marks the time in which two hold at once, or else the place of a violation that
// is about one client.
func (r *reading) markFind(f checker.Finding) {
	code := f.Property.Code()
	if p := f.First; p != nil {
		for _, grant := range []checker.Grant{p.First, p.Second} {
			if r.knows(grant.Client) {
				r.clash(grant, p, code)
			}
		}
		return
	}
	if w := f.Where; w != nil && r.knows(w.Client) && f.Verdict == checker.Violated {
		r.rows.mark(lane{Clients, w.Client}, Mark{At: w.From, Kind: "found", Text: named(f.Property), Bad: true}, owner{})
	}
}

// knows reports whether the history can speak of a client.
func (r *reading) knows(client int) bool { return client > 0 && client <= r.header.Clients }

// clash adds an overlap to the lane of one of the two, once for all properties that find it.
func (r *reading) clash(grant checker.Grant, p *checker.Pair, code string) {
	l := lane{Clients, grant.Client}
	of := sameOf(grant).owner
	to := r.rows.of(l)
	for i := range to.Spans {
		if s := &to.Spans[i]; s.State == Clash && s.From == p.From && s.To == p.To && to.spans[i] == of {
			s.Text += ", " + code
			return
		}
	}
	r.rows.add(l, Span{From: p.From, To: p.To, State: Clash, Text: code, Open: p.Open}, of)
}

// mostNamed is how many grants a find names at most.
const mostNamed = 12

// grantsOf returns the grants of a finding: its pair, and those that its events name.
func grantsOf(f checker.Finding, g *grants) []int {
	var all []int
	add := func(i int) {
		if i >= 0 && len(all) < mostNamed && !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	if f.First != nil {
		add(g.index(f.First.First))
		add(g.index(f.First.Second))
	}
	for _, told := range f.Events {
		if told.Token != "" {
			add(g.closest(told, f.Where))
		}
	}
	return all
}

// closest returns the grant of a statement's client and token that is closest to a place, or
// -1: a token can be granted several times.
func (g *grants) closest(told checker.Statement, to *checker.Place) int {
	best := -1
	for i := range g.list {
		one := &g.list[i]
		if one.Token != told.Token || one.Client != told.Client || told.Resource != "" && one.Resource != told.Resource {
			continue
		}
		if best < 0 || to == nil || one.apart(to) <= g.list[best].apart(to) {
			best = i
		}
	}
	return best
}

// apart is how far the grant is from a place; 0: it lies in it, or around.
func (g *Grant) apart(p *checker.Place) history.Time {
	return max(0, g.Call-p.To, p.From-g.To)
}

// instant prints an instant to the microsecond.
func instant(t history.Time) string { return history.Time(int64(t) / 1000 * 1000).String() }
