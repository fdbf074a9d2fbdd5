package timeline

import (
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/words"
)

// finds makes finds of what is violated or open, and marks them in the lanes.
func (r *reading) finds(g *grants) []Find {
	all := []Find{}
	for _, f := range r.run.Report.Findings {
		if f.Verdict != checker.Violated && f.Verdict != checker.Unknown {
			continue
		}
		r.markFind(f)
		if last := len(all) - 1; last >= 0 && all[last].tells(f) {
			all[last].Also = append(all[last].Also, Also{Property: named(f.Property), Count: f.Count})
			continue
		}
		find := Find{Property: named(f.Property), Verdict: f.Verdict, Story: f.Story, Count: f.Count}
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

// tells reports whether a finding is the overlap that the find tells already.
func (f *Find) tells(other checker.Finding) bool {
	return f.Verdict == other.Verdict && checker.SameOverlap(f.Story, other.Story) &&
		other.Where != nil && f.From == other.Where.From && f.To == other.Where.To
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

// grantsOf returns the grants of a finding: its pair, and those whose tokens its story names.
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
	pair := len(all)
	for _, token := range tokensIn(f.Story) {
		if slices.ContainsFunc(all[:pair], func(i int) bool { return words.Token(g.list[i].Token) == token }) {
			continue
		}
		for _, i := range g.closest(token, f) {
			add(i)
		}
	}
	return all
}

// tokensIn returns the tokens that a story names, as it prints them.
func tokensIn(story string) (all []string) {
	for _, part := range strings.Split(story, "token ")[1:] {
		end := strings.IndexAny(part, "),; ")
		if end < 0 {
			end = len(part)
		}
		if token := part[:end]; !slices.Contains(all, token) {
			all = append(all, token)
		}
	}
	return all
}

// closest returns of each client the grant with a token that looks so which is closest to
// the place of a finding, if there is any.
func (g *grants) closest(token string, f checker.Finding) (all []int) {
	best := map[int]int{} // by client: its index in all
	for i := range g.list {
		one := &g.list[i]
		if words.Token(one.Token) != token {
			continue
		}
		at, known := best[one.Client]
		switch {
		case !known:
			best[one.Client] = len(all)
			all = append(all, i)
		case f.Where != nil && one.apart(f.Where) <= g.list[all[at]].apart(f.Where):
			all[at] = i
		}
	}
	return all
}

// apart is how far the grant is from a place; 0: it lies in it, or around.
func (g *Grant) apart(p *checker.Place) history.Time {
	return max(0, g.Call-p.To, p.From-g.To)
}

// instant prints an instant to the microsecond.
func instant(t history.Time) string { return history.Time(int64(t) / 1000 * 1000).String() }
