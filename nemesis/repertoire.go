package nemesis

import "fmt"

// Repertoire is how worlds of type W carry faults out: one part for each kind
// that they can.
type Repertoire[W any] []Part[W]

// Part carries out one kind of fault.
type Part[W any] struct {
	Kind  Kind
	Begin func(w W, number int, f *Fault) error
	End   func(w W, number int, f *Fault) error // nil if the kind has no end
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
	return r.play(number, f, func(p Part[W]) error { return p.Begin(w, number, f) })
}

// End is described with Begin.
func (r Repertoire[W]) End(w W, number int, f *Fault) error {
	return r.play(number, f, func(p Part[W]) error { return p.End(w, number, f) })
}

func (r Repertoire[W]) play(number int, f *Fault, how func(Part[W]) error) error {
	for _, p := range r {
		if p.Kind != f.Action().Kind() {
			continue
		}
		if err := how(p); err != nil {
			return fmt.Errorf("fault %d (%v): %w", number, f.Action(), err)
		}
		return nil
	}
	return fmt.Errorf("fault %d (%v): a %s cannot be carried out here", number, f.Action(), f.Action().Kind())
}
