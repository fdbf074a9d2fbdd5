package nemesis

import "fmt"

// Repertoire is how worlds of type W carry faults out: one part for each kind
// that they can.
type Repertoire[W any] []Part[W]

// Part carries out one kind of fault. [Carry] makes one.
type Part[W any] struct {
	Kind     Kind
	Begin    func(w W, number int, a Action) error
	End      func(w W, number int, a Action) error
	features []Feature
}

// Carry makes the part that carries out actions of type A. The number is the
// fault's place in the plan, from 1. end is nil if the kind has no end.
func Carry[W any, A Action](begin, end func(w W, number int, a A) error) Part[W] {
	var zero A
	on := func(do func(w W, number int, a A) error) func(w W, number int, a Action) error {
		return func(w W, number int, a Action) error {
			if do == nil {
				return nil
			}
			return do(w, number, a.(A))
		}
	}
	return Part[W]{Kind: zero.Kind(), Begin: on(begin), End: on(end)}
}

// With says which features of its kind the part carries out.
func (p Part[W]) With(features ...Feature) Part[W] {
	p.features = features
	return p
}

// Features lists the features in the repertoire.
func (r Repertoire[W]) Features() []Feature {
	var all []Feature
	for _, p := range r {
		all = append(all, p.features...)
	}
	return all
}

// Kinds lists the kinds of faults in the repertoire.
func (r Repertoire[W]) Kinds() []Kind {
	kinds := make([]Kind, len(r))
	for i, p := range r {
		kinds[i] = p.Kind
	}
	return kinds
}

// Begin and End carry out fault number of a plan on the world w. Errors name
// the fault.
func (r Repertoire[W]) Begin(w W, number int, f *Fault) error {
	return r.play(number, f, func(p Part[W]) error { return p.Begin(w, number, f.Action) })
}

// End is described with Begin.
func (r Repertoire[W]) End(w W, number int, f *Fault) error {
	return r.play(number, f, func(p Part[W]) error { return p.End(w, number, f.Action) })
}

func (r Repertoire[W]) play(number int, f *Fault, how func(Part[W]) error) error {
	for _, p := range r {
		if p.Kind != f.Action.Kind() {
			continue
		}
		if err := how(p); err != nil {
			return fmt.Errorf("fault %d (%v): %w", number, f.Action, err)
		}
		return nil
	}
	return fmt.Errorf("fault %d (%v): %s cannot be carried out here", number, f.Action, f.Action.Kind().one())
}
