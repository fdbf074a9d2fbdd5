package timeline

import "github.com/lockstorm/lockstorm/history"

// Observer receives the events of a history.
type Observer interface {
	// Wants lists the kinds of events that Observe receives.
	Wants() Kinds
	// Observe receives an event, after the timeline has been updated.
	Observe(f *Fact)
}

// Settler is an observer that decides at the end of an instant, because events
// of one instant may come in any order.
type Settler interface {
	Observer
	// Settle is called after an instant in which an event was observed.
	Settle()
}

// SelectiveSettler is a settler that settles only instants with certain events.
type SelectiveSettler interface {
	Settler
	// Settles lists the kinds of these events, among them those that Observe need not receive. A settler that
	// wants no events settles nothing.
	Settles() Kinds
}

// Kinds is a set of kinds of events.
type Kinds uint64

// maxKinds is the largest number of kinds of events, because [Kinds] has 64 bits.
const maxKinds = 64

// KindSet returns the set of the listed kinds.
func KindSet(list ...history.Kind) Kinds {
	var s Kinds
	for _, k := range list {
		s |= 1 << k
	}
	return s
}

// Has reports whether the set contains a kind.
func (s Kinds) Has(k history.Kind) bool { return s&(1<<(k%maxKinds)) != 0 }

// PerResource is an observer's state of each resource. The zero value has the zero state of all.
type PerResource[T any] struct {
	first T // most histories have one resource
	more  []*T
}

// Of returns the state of the resource.
func (p *PerResource[T]) Of(r *Resource) *T {
	if r.Number == 0 {
		return &p.first
	}
	return p.another(r)
}

func (p *PerResource[T]) another(r *Resource) *T {
	for len(p.more) < r.Number {
		p.more = append(p.more, new(T))
	}
	return p.more[r.Number-1]
}

// Each calls do with the state of each resource.
func (p *PerResource[T]) Each(do func(*T)) {
	do(&p.first)
	for _, one := range p.more {
		do(one)
	}
}

// few is the number of holds, or of clients, for which [PerHold] and [PerClient] have room at first.
const few = 12

// PerClient is an observer's state of each client.
type PerClient[T any] struct{ list []T }

// Of returns the state of the client. The pointer is valid until the next call.
func (p *PerClient[T]) Of(c *Client) *T {
	if c.Number >= len(p.list) {
		p.grow(c)
	}
	return &p.list[c.Number]
}

func (p *PerClient[T]) grow(c *Client) {
	p.list = append(p.list, make([]T, max(few, c.Number+1)-len(p.list))...)
}

// PerHold is an observer's state of each hold that the timeline keeps.
type PerHold[T any] struct{ list []holdState[T] }

type holdState[T any] struct {
	serial uint64 // of the hold
	state  T
}

// Of returns the state of the hold. The pointer is valid until the next call.
func (p *PerHold[T]) Of(h *Hold) *T {
	if h.number < len(p.list) && p.list[h.number].serial == h.serial {
		return &p.list[h.number].state
	}
	return p.begin(h)
}

func (p *PerHold[T]) begin(h *Hold) *T {
	if len(p.list) <= h.number {
		p.list = append(p.list, make([]holdState[T], max(few, h.number+1)-len(p.list))...)
	}
	m := &p.list[h.number]
	*m = holdState[T]{serial: h.serial}
	return &m.state
}
