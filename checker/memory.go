package checker

// perResource is what a judge or a meter has to remember of each resource. The
// zero value remembers nothing of any.
type perResource[T any] struct{ list []*T }

// of returns what is remembered of the resource, from its zero value on.
func (p *perResource[T]) of(r *resource) *T {
	for len(p.list) <= r.number {
		p.list = append(p.list, new(T))
	}
	return p.list[r.number]
}

// perHold is the same of each hold, as long as the ledger keeps it. What is
// returned is good until the next call.
type perHold[T any] struct{ list []remembered[T] }

type remembered[T any] struct {
	serial uint64 // of the hold
	what   T
}

func (p *perHold[T]) of(h *hold) *T {
	for len(p.list) <= h.number {
		p.list = append(p.list, remembered[T]{})
	}
	m := &p.list[h.number]
	if m.serial != h.serial {
		*m = remembered[T]{serial: h.serial}
	}
	return &m.what
}
