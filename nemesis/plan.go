package nemesis

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/form"
)

// Plan is a list of faults. It is data: read, printed, generated and shrunk.
type Plan []Fault

// EachNode returns the plan that is carried out with so many nodes: a fault on [AllNodes] is one fault for each
// node there, in the order of the nodes. Faults after it have higher numbers than in the plan as it is written.
func (p Plan) EachNode(nodes int) Plan {
	if !slices.ContainsFunc(p, Fault.onAllNodes) {
		return p
	}
	var all Plan
	for _, f := range p {
		if !f.onAllNodes() {
			all = append(all, f)
			continue
		}
		for node := range nodes {
			all = append(all, Plan{f}.Clone()...)
			*all[len(all)-1].Action.(onNode).node() = node + 1
		}
	}
	return all
}

func (f Fault) onAllNodes() bool {
	on, is := f.Action.(onNode)
	return is && *on.node() == AllNodes
}

// numbers returns, for each fault of [Plan.EachNode], the number that its fault has in the plan.
func (p Plan) numbers(nodes int) (all []int) {
	for i, f := range p {
		times := 1
		if f.onAllNodes() {
			times = nodes
		}
		for range times {
			all = append(all, i+1)
		}
	}
	return all
}

// AsksFor reports whether a fault of the plan needs a feature.
func (p Plan) AsksFor(f Feature) bool {
	return slices.ContainsFunc(p, func(one Fault) bool { return slices.Contains(featuresOf(one.Action), f) })
}

// StepsOf lists the steps of a client at which a fault of the plan may begin or end, in
// their order. The scheduler ignores the client's other steps.
func (p Plan) StepsOf(client int) []env.Step {
	return slices.DeleteFunc(env.Steps(), func(s env.Step) bool {
		return !slices.ContainsFunc(p, func(f Fault) bool {
			waits := func(m *Trigger) bool { return m != nil && m.Client == client && string(m.Step) == s.String() }
			return waits(&f.Start) || waits(f.Ends())
		})
	})
}

// Does reports whether a fault of the plan has one of these effects.
func (p Plan) Does(one Effect) bool {
	return slices.ContainsFunc(p, func(f Fault) bool { return f.Action.Effects(Setting{}).Does.Any(one) })
}

// NodesThat lists the nodes that the plan's faults with one of these effects name, each once, in the order of
// the plan.
func (p Plan) NodesThat(suffer Effect) (nodes []int) {
	for _, f := range p {
		if _, named := Named(f.Action); f.Action.Effects(Setting{}).Does.Any(suffer) {
			nodes = append(nodes, slices.DeleteFunc(named, func(n int) bool { return slices.Contains(nodes, n) })...)
		}
	}
	return nodes
}

// MaxPlan is the largest number of faults of a plan.
const MaxPlan = 1000

func (p Plan) validate(s Setting) error {
	numbers := p.numbers(s.Nodes)
	if len(numbers) > MaxPlan {
		return fmt.Errorf("%d faults: want at most %d", len(numbers), MaxPlan)
	}
	for i := range p {
		if err := p[i].validate(s); err != nil {
			return field(fmt.Sprintf("[%d]", i), err)
		}
	}
	overlap := p.EachNode(s.Nodes).overlap(s)
	if overlap == nil {
		return nil
	}
	overlap.Fault, overlap.Holder = numbers[overlap.Fault-1], numbers[overlap.Holder-1]
	return field(fmt.Sprintf("[%d]", overlap.Fault-1), overlap)
}

func (f *Fault) validate(s Setting) error {
	action := f.Action
	if action == nil {
		return errors.New("a fault names exactly one kind, as in crash: {node: 3}")
	}
	err := s.validateNumbers(action)
	if v, has := action.(settingValidator); err == nil && has {
		err = v.validate(s)
	}
	if err != nil {
		return field(string(action.Kind()), err)
	}
	if err := f.Start.validate(s.Clients, s.Nodes, false); err != nil {
		return field("start", err)
	}
	ending := action.ending()
	if f.End == nil {
		switch {
		case ending.heals:
			return field("end", fmt.Errorf("missing: %s heals when it ends", action.Kind().withArticle()))
		case ending.required:
			return field("end", fmt.Errorf("missing: %s has to end", action.Kind().withArticle()))
		}
		return nil
	}
	if ending.forbidden != "" {
		return field("end", errors.New(ending.forbidden))
	}
	if ending.automatic != "" {
		return field("end", errors.New(ending.automatic))
	}
	if err := f.End.validate(s.Clients, s.Nodes, true); err != nil {
		return field("end", err)
	}
	if f.Start.Timed() && f.End.Timed() && f.End.At < f.Start.At {
		return field("end", fmt.Errorf("%v is before the start at %v", f.End.At, f.Start.At))
	}
	return nil
}

// overlap finds two faults with the same claim at the same time, as far as their
// times are known before the run. The scheduler finds the rest.
func (p Plan) overlap(s Setting) *OverlapError {
	claims := p.claims(s)
	if claims.apart(p) {
		return nil
	}
	last := sort.Search(len(p), func(i int) bool { return !claims[:i+1].apart(p[:i+1]) })
	for j := range last {
		target := claims.shared(j, last)
		if target == "" || !p[j].Start.Timed() {
			continue
		}
		first, second := &p[j], &p[last]
		if second.Start.At < first.Start.At {
			first, second = second, first
		}
		if !first.endsBefore(second, true) {
			return &OverlapError{Fault: last + 1, Holder: j + 1, Target: target}
		}
	}
	return nil
}

// OverlapError says that a fault begins while another holds the same target.
type OverlapError struct {
	Fault, Holder int // their numbers in the plan, from 1
	Target        string
	Running       Action // of the fault, if the run has shown the overlap; nil: the plan shows it
}

func (e *OverlapError) Error() string {
	if e.Running == nil {
		return fmt.Sprintf("overlaps fault %d: both hold %s", e.Holder, e.Target)
	}
	return fmt.Sprintf("fault %d (%v) begins while fault %d still holds %s", e.Fault, e.Running, e.Holder, e.Target)
}

// planClaims are the claims of each fault of a plan.
type planClaims [][]string

func (p Plan) claims(s Setting) planClaims {
	all := make(planClaims, len(p))
	for i := range p {
		all[i] = p[i].Claims(s)
	}
	return all
}

// holders returns the faults that have each claim, in the order of the plan.
func (c planClaims) holders() map[string][]int {
	all := map[string][]int{}
	for i, claims := range c {
		for _, target := range claims {
			if of := all[target]; len(of) == 0 || of[len(of)-1] != i {
				all[target] = append(of, i)
			}
		}
	}
	return all
}

// apart reports whether no two faults of the plan hold the same target at the same time, as far as
// their times are known. It looks at neighbours in the order of their starts: one that is over when its
// neighbour begins is over when all later ones begin. At one instant faults begin in the order of planning.
func (c planClaims) apart(p Plan) bool {
	for _, faults := range c.holders() {
		faults = slices.DeleteFunc(faults, func(i int) bool { return !p[i].Start.Timed() })
		if !p.inTurn(faults, func(a, b *Fault) bool { return a.endsBefore(b, true) }) {
			return false
		}
	}
	return true
}

// inTurn sorts faults by their starts, and reports whether each is over when the next one begins.
func (p Plan) inTurn(faults []int, over func(a, b *Fault) bool) bool {
	slices.SortStableFunc(faults, func(i, j int) int { return cmp.Compare(p[i].Start.At, p[j].Start.At) })
	for k := 1; k < len(faults); k++ {
		if !over(&p[faults[k-1]], &p[faults[k]]) {
			return false
		}
	}
	return true
}

// shared returns the first claim of fault j that fault i has too, or "".
func (c planClaims) shared(i, j int) string {
	for _, target := range c[j] {
		if slices.Contains(c[i], target) {
			return target
		}
	}
	return ""
}

// endsBefore reports whether f has ended when g starts; both starts are timed. It
// returns hope if that is unknown before the run because f ends at a step.
func (f *Fault) endsBefore(g *Fault, hope bool) bool {
	end := f.Ends()
	switch {
	case f.Momentary():
		return f.Start.At < g.Start.At
	case end == nil:
		return false
	case end.After != nil:
		return f.Start.At+*end.After <= g.Start.At
	case end.Timed():
		return end.At <= g.Start.At
	}
	return hope && f.Start.At <= g.Start.At
}

// Clone returns a copy of the plan. It shares nothing with it but lists of numbers,
// durations and words.
func (p Plan) Clone() Plan { return form.Clone(p) }
