package timelinepage

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// grantOf describes a hold for the page.
func grantOf(h *timeline.Held) Grant {
	g := Grant{Client: h.Client, Resource: h.Resource, Token: h.Token, Call: h.Call, Granted: h.Granted, To: h.Granted, Fence: h.Fence}
	var last []timeline.Window // of each kind
	for _, list := range h.Windows {
		if n := len(list); n > 0 {
			last = append(last, list[n-1])
			g.To = max(g.To, list[n-1].To)
		}
	}
	g.How = endings(last)
	return g
}

// endings says what ended the last windows of a grant, in the order of time.
func endings(last []timeline.Window) string {
	slices.SortStableFunc(last, func(a, b timeline.Window) int {
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
	return cmp.Or(strings.Join(all, ", "), "its end is not shown")
}

// grantIndex finds grants by what events say of them.
type grantIndex struct {
	list  []Grant // in the order in which they were granted
	byKey map[timeline.GrantKey]int
	byRef map[grantRef][]int // in the order of their calls
}

func newGrantIndex(holds []*timeline.Held) grantIndex {
	x := grantIndex{byKey: map[timeline.GrantKey]int{}, byRef: map[grantRef][]int{}, list: []Grant{}}
	for i, h := range holds {
		x.list = append(x.list, grantOf(h))
		x.byKey[h.Key()] = i
		// Some events do not name the client, or not even the resource.
		for _, ref := range []grantRef{{h.Client, h.Resource, h.Token}, {0, h.Resource, h.Token}, {0, "", h.Token}} {
			x.byRef[ref] = append(x.byRef[ref], i)
		}
	}
	for _, list := range x.byRef {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(x.list[a].Call, x.list[b].Call) })
	}
	return x
}

// find returns the index of the last grant with this reference that was called by then, or -1.
func (x *grantIndex) find(ref grantRef, at history.Time) int {
	if ref.token == "" {
		return -1
	}
	list := x.byRef[ref]
	i := sort.Search(len(list), func(i int) bool { return x.list[list[i]].Call > at })
	if i == 0 {
		return -1
	}
	return list[i-1]
}

// after returns the index of the grant that ended a wait, or -1.
func (x *grantIndex) after(w checker.Wait) int {
	i, _ := slices.BinarySearchFunc(x.list, w.To, func(g Grant, at history.Time) int { return cmp.Compare(g.Granted, at) })
	for ; w.Granted && i < len(x.list) && x.list[i].Granted == w.To; i++ {
		if g := &x.list[i]; g.Client == w.Client && g.Resource == w.Resource {
			return i
		}
	}
	return -1
}

// mostInvolved is how many grants a finding refers to at most.
const mostInvolved = 12

// involved returns the grants of a finding: its pair, and those that its events name.
func (x *grantIndex) involved(f checker.Finding) []int {
	var all []int
	add := func(i int) {
		if i >= 0 && len(all) < mostInvolved && !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	if p := f.First; p != nil {
		for _, g := range []timeline.Grant{timeline.Grant(p.First), timeline.Grant(p.Second)} {
			add(x.byKey[g.Key()]) // [builder.shownHolds] has them
		}
	}
	for _, e := range f.Events {
		if e.Token != "" {
			add(x.closest(e, f.Where))
		}
	}
	return all
}

// closest returns the grant of an event's client and token that is closest to a place, or
// -1. A token can be granted several times.
func (x *grantIndex) closest(e checker.Event, to *checker.Place) int {
	best := -1
	for i := range x.list {
		g := &x.list[i]
		if g.Token != e.Token || g.Client != e.Client || e.Resource != "" && g.Resource != e.Resource {
			continue
		}
		if best < 0 || to == nil || g.distance(to) <= x.list[best].distance(to) {
			best = i
		}
	}
	return best
}

// distance is the time between a grant and a place; 0 if they overlap.
func (g *Grant) distance(p *checker.Place) history.Time {
	return max(0, g.Call-p.To, p.From-g.To)
}

// instant prints an instant to the microsecond.
func instant(t history.Time) string { return history.Time(int64(t) / 1000 * 1000).String() }
