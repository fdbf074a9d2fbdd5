package counterexample

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/model"
)

// accessOperations makes operations of the accesses to a guarded resource.
func (e *excerpt) accessOperations(d *drawing) []operation {
	kept := e.accesses.all()
	slices.SortStableFunc(kept, func(a, b checker.Access) int { return cmp.Compare(a.Call, b.Call) })
	kept, initial := e.fromQuiescence(kept)
	d.model = registerFrom(initial)
	d.model.DescribeOperation = func(in, _ any) string { return describeAccess(in.(model.SectionInput)) }
	d.skip("section", e.accesses.earlier+len(e.accesses.all())-len(kept), e.accesses.between, e.accesses.later)

	var all []operation
	for _, a := range kept {
		all = append(all, accessStep(a, a.Return))
		d.include(a.Call, a.Return)
	}
	for _, a := range e.unknown.all() { // which may take effect after all others
		all = append(all, accessStep(a, max(d.to, a.Call)+1))
	}
	return all
}

// fromQuiescence leaves out the first accesses, up to a point at which none was in
// progress and the value of the resource is known, and returns that value; nil: there is
// no such point, and the value may be any.
func (e *excerpt) fromQuiescence(sorted []checker.Access) ([]checker.Access, any) {
	if e.accesses.earlier == 0 {
		return sorted, int64(0)
	}
	for i := 1; i < len(sorted); i++ {
		last := sorted[i-1]
		if last.Return < sorted[i].Call && last.Return < e.place.From && !slices.ContainsFunc(sorted[:i-1], func(a checker.Access) bool { return a.Return >= last.Call }) {
			return sorted[i:], last.Wrote
		}
	}
	return sorted, nil
}

// anything is the state of a register of which nothing is known yet.
type anything struct{}

// registerFrom is the guarded register from another initial value, or, if there is none,
// from any.
func registerFrom(initial any) porcupine.Model {
	m := model.GuardedRegister
	step := m.Step
	m.Init = func() []any {
		if initial == nil {
			return []any{anything{}}
		}
		return []any{initial}
	}
	m.Step = func(state, input, output any) []any {
		if _, unknown := state.(anything); !unknown {
			return step(state, input, output)
		}
		next := []any{input.(model.SectionInput).Wrote}
		if output.(model.SectionOutput).Unknown {
			next = append(next, state)
		}
		return next
	}
	m.DescribeState = func(state any) string {
		if _, unknown := state.(anything); unknown {
			return "any value"
		}
		return fmt.Sprint(state)
	}
	return m.ToModel()
}

func describeAccess(in model.SectionInput) string {
	if in.Blind {
		return fmt.Sprintf("writes %d", in.Wrote)
	}
	return fmt.Sprintf("reads %d, writes %d", in.Read, in.Wrote)
}

// accessStep is one access as an operation, until it returned or, if that is not known,
// until later than anything else.
func accessStep(a checker.Access, to history.Time) operation {
	in := model.SectionInput{Resource: a.Resource, Blind: a.Blind, Read: a.Read, Wrote: a.Wrote}
	what := describeAccess(in)
	told := fmt.Sprintf("%s %q (token %s), called at %s; its write was called at %s", what, a.Resource, short(a.Token), at(a.Call), at(a.WriteAt))
	if a.Unknown {
		told += ", and may have been applied or not"
	} else {
		told += ", and accepted by " + at(a.Return)
	}
	return operation{client: a.Client, Operation: porcupine.Operation{
		Input: in, Output: model.SectionOutput{Unknown: a.Unknown}, Call: int64(a.Call), Return: int64(to), Metadata: told,
	}}
}
