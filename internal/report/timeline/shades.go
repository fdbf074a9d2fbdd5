package timeline

import (
	"cmp"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

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
