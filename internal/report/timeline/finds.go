package timeline

import (
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

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
