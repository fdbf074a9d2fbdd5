package timeline

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Past is all that lasted in a history, for readers that keep the whole of it.
type Past struct {
	Intervals []Interval // in the order in which they began
	Holds     []*Held    // in the order of their grants
}

// PastOf reads events to their end.
func PastOf(h history.Header, events iter.Seq[*history.Event]) (p Past) {
	t := New(h)
	t.Intervals(func(i *Interval) { p.Intervals = append(p.Intervals, *i) })
	holds := t.Holds(func(Window) bool { return true })
	for e := range events {
		t.Record(e)
	}
	t.Close()
	slices.SortStableFunc(p.Intervals, func(a, b Interval) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.First, b.First))
	})
	p.Holds = holds.List()
	return p
}

// Windows returns the windows of all holds in the order of their begins.
func (p *Past) Windows(of WindowKind) (all []Window) {
	for _, h := range p.Holds {
		all = append(all, h.Windows[of]...)
	}
	slices.SortStableFunc(all, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	return all
}

// Held is a grant with its windows.
type Held struct {
	Grant
	Fence   uint64                // 0: none
	Windows [WindowKinds][]Window // in the order of time
}

// GrantKey identifies a grant.
type GrantKey struct {
	Client          int
	Resource, Token string
	Call            history.Time // of acquire
}

// Key identifies the grant.
func (g *Grant) Key() GrantKey { return GrantKey{g.Client, g.Resource, g.Token, g.Call} }

// Holds groups windows by their grants.
type Holds map[GrantKey]*Held

// Holds follows the windows of both kinds, as far as they are wanted. Call it before the first event.
func (t *Timeline) Holds(wanted func(Window) bool) Holds {
	all := Holds{}
	for kind := range WindowKinds {
		t.Windows(kind, func(w Window) {
			if wanted(w) {
				h := all.Of(w.Grant)
				h.Fence = w.Fence
				h.Windows[kind] = append(h.Windows[kind], w)
			}
		})
	}
	return all
}

// Of returns the hold of a grant. If there is none, it adds one without windows.
func (all Holds) Of(g Grant) *Held {
	h := all[g.Key()]
	if h == nil {
		h = &Held{Grant: g}
		all[g.Key()] = h
	}
	h.Granted = min(h.Granted, g.Granted)
	return h
}

// List returns the holds in the order of their grants.
func (all Holds) List() []*Held {
	list := make([]*Held, 0, len(all))
	for _, h := range all {
		for _, windows := range h.Windows {
			slices.SortStableFunc(windows, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b *Held) int {
		return cmp.Or(cmp.Compare(a.Granted, b.Granted), cmp.Compare(a.Call, b.Call), cmp.Compare(a.Client, b.Client), strings.Compare(a.Token, b.Token), strings.Compare(a.Resource, b.Resource))
	})
	return list
}

// HeldPart is a time in which a client holds a lock.
type HeldPart struct {
	From, To history.Time
	Overdue  bool   // the client works on past its validity
	Window   Window // that it is a part of
	Open     bool   // it has not ended when the history ends
}

// Parts returns the lease windows of the hold, and what of its section windows no lease window covers: the
// client works on past its validity then.
func (h *Held) Parts() (all []HeldPart) {
	add := func(w Window, from, to history.Time, overdue bool) {
		if from < to {
			all = append(all, HeldPart{from, to, overdue, w, w.By == 0 && to == w.To})
		}
	}
	leases := h.Windows[LeaseWindow]
	for _, l := range leases {
		add(l, l.From, l.To, false)
	}
	for _, s := range h.Windows[SectionWindow] {
		from := s.From
		for _, l := range leases {
			if l.From < l.To && l.To > from {
				add(s, from, min(l.From, s.To), true)
				from = l.To
			}
		}
		add(s, from, s.To, true)
	}
	return all
}
