package nemesis

import (
	"errors"
	"fmt"
	"strings"
)

// Plan is a list of faults. It is data: read, printed, generated and shrunk.
type Plan []Fault

func (p Plan) validate(s Setting) error {
	for i := range p {
		if err := p[i].validate(s); err != nil {
			return field(fmt.Sprintf("[%d]", i), err)
		}
	}
	return p.overlap(s)
}

func (f *Fault) validate(s Setting) error {
	action := f.Action()
	if action == nil {
		return errors.New("a fault has exactly one action")
	}
	if err := action.validate(s); err != nil {
		return field(string(action.Kind()), err)
	}
	if err := f.Start.validate(s, false); err != nil {
		return field("start", err)
	}
	ending := action.ending()
	if f.End == nil {
		if ending.must {
			return field("end", fmt.Errorf("missing: a %s has to end", action.Kind()))
		}
		return nil
	}
	if ending.none != "" {
		return field("end", errors.New(ending.none))
	}
	if err := f.End.validate(s, true); err != nil {
		return field("end", err)
	}
	if f.Start.timed() && f.End.timed() && f.End.At < f.Start.At {
		return field("end", fmt.Errorf("%v is before the start at %v", f.End.At, f.Start.At))
	}
	return nil
}

// overlap finds two faults of one kind that hold the same target at the same
// time, as far as their times are known before the run. The conductor finds
// the rest.
func (p Plan) overlap(s Setting) error {
	for i := range p {
		for j := range i {
			a, b := &p[j], &p[i]
			target := conflict(a, b, s)
			if target == "" || !a.Start.timed() || !b.Start.timed() {
				continue
			}
			if !b.endsBefore(a) && !a.endsBefore(b) {
				return field(fmt.Sprintf("[%d]", i), fmt.Errorf("overlaps fault %d: both are a %s of %s", j+1, a.Action().Kind(), target))
			}
		}
	}
	return nil
}

// endsBefore reports whether f, whose start is timed, is known to have ended
// when g starts, or cannot be known not to have.
func (f *Fault) endsBefore(g *Fault) bool {
	switch {
	case f.Action().ending().none != "":
		return f.Start.At != g.Start.At
	case f.End == nil:
		return false
	case f.End.After != nil:
		return f.Start.At+*f.End.After <= g.Start.At
	case f.End.timed():
		return f.End.At <= g.Start.At
	}
	return f.Start.At <= g.Start.At
}

// conflict returns a target that both faults would hold, if they are of one
// kind.
func conflict(a, b *Fault, s Setting) string {
	if a.Action().Kind() != b.Action().Kind() {
		return ""
	}
	held := map[string]bool{}
	for _, t := range a.Action().targets(s) {
		held[t] = true
	}
	for _, t := range b.Action().targets(s) {
		if held[t] {
			return t
		}
	}
	return ""
}

// Refuse returns an error that names the first fault of the plan whose kind is
// not among those that the backend can carry out.
func Refuse(backend string, can []Kind, p Plan) error {
	able := map[Kind]bool{}
	for _, k := range can {
		able[k] = true
	}
	for i := range p {
		if k := p[i].Action().Kind(); !able[k] {
			return &RefusedError{Backend: backend, Fault: i + 1, Kind: k}
		}
	}
	return nil
}

// RefusedError is a plan that a backend cannot carry out.
type RefusedError struct {
	Backend string
	Fault   int // its number in the plan, from 1
	Kind    Kind
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the %s backend cannot carry out fault %d of the plan, a %s", e.Backend, e.Fault, e.Kind)
}

// links names the links between clients and nodes.
func links(clients, nodes []int, s Setting) []string {
	var all []string
	for _, c := range Each(clients, s.Clients) {
		for _, n := range Each(nodes, s.Nodes) {
			all = append(all, fmt.Sprintf("the link of client %d to node %d", c, n))
		}
	}
	return all
}

// who prints a list of clients or nodes for a person.
func who(what string, list []int) string {
	switch len(list) {
	case 0:
		return "every " + what
	case 1:
		return fmt.Sprintf("%s %d", what, list[0])
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	last := len(parts) - 1
	return what + "s " + strings.Join(parts[:last], ", ") + " and " + parts[last]
}
