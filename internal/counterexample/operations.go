package counterexample

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/model"
)

// accessOperations makes operations of the accesses to a guarded resource.
func (e *excerpt) accessOperations(d *drawing) []operation {
	kept := e.accesses.all()
	slices.SortStableFunc(kept, func(a, b checker.Access) int { return cmp.Compare(a.Call, b.Call) })
	kept, initial := e.fromQuiescence(kept)
	d.model = registerFrom(initial)
	d.model.DescribeOperation = func(in, _ any) string { return describeAccess(in.(model.SectionInput)) }
	d.noteSkipped("section", e.accesses.earlier+len(e.accesses.all())-len(kept), e.accesses.between, e.accesses.later)

	var all []operation
	for _, a := range kept {
		all = append(all, accessOperation(a, a.Return))
		d.include(a.Call, a.Return)
	}
	for _, a := range e.unknown.all() { // these may take effect after all others
		all = append(all, accessOperation(a, max(d.to, a.Call)+1))
	}
	return all
}

// fromQuiescence drops the first accesses, up to a point at which none was pending and the
// value of the resource is known, and returns that value. It is nil if there is no such point.
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

// anyValue is the state of a register with an unknown value.
type anyValue struct{}

// registerFrom is the guarded register with another initial value; nil: any value.
func registerFrom(initial any) porcupine.Model {
	m := model.GuardedRegister
	step := m.Step
	m.Init = func() []any {
		if initial == nil {
			return []any{anyValue{}}
		}
		return []any{initial}
	}
	m.Step = func(state, input, output any) []any {
		if _, unknown := state.(anyValue); !unknown {
			return step(state, input, output)
		}
		next := []any{input.(model.SectionInput).Wrote}
		if output.(model.SectionOutput).Unknown {
			next = append(next, state)
		}
		return next
	}
	m.DescribeState = func(state any) string {
		if _, unknown := state.(anyValue); unknown {
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

// accessOperation makes an operation of an access. An access with an unknown result lasts
// longer than all others.
func accessOperation(a checker.Access, to history.Time) operation {
	in := model.SectionInput{Resource: a.Resource, Blind: a.Blind, Read: a.Read, Wrote: a.Wrote}
	what := describeAccess(in)
	details := fmt.Sprintf("%s %q (token %s), called at %s; its write was called at %s", what, a.Resource, textfmt.Token(a.Token), at(a.Call), at(a.WriteAt))
	if a.Unknown {
		details += ", and may have been applied or not"
	} else {
		details += ", and accepted by " + at(a.Return)
	}
	return operation{client: a.Client, Operation: porcupine.Operation{
		Input: in, Output: model.SectionOutput{Unknown: a.Unknown}, Call: int64(a.Call), Return: int64(to), Metadata: details,
	}}
}

// holdOperations makes operations of windows for the lock's specification.
func (e *excerpt) holdOperations(d *drawing) []operation {
	fenced := e.property == checker.Fence
	d.model = model.LeaseLock
	if fenced {
		d.model = model.FencedLock
	}
	d.model.DescribeOperation = func(_, output any) string { return output.(string) }

	kept := e.windows()
	d.noteSkipped("hold", kept.earlier, kept.between, kept.later)
	names := holderNames{}
	var all []operation
	for _, w := range kept.all() {
		all = append(all, windowOperations(w, names.of(w.Grant), fenced)...)
		d.include(w.Call, w.To)
	}
	return all
}

// noteSkipped notes how many items were dropped.
func (d *drawing) noteSkipped(thing string, earlier, between, later int) {
	if earlier > 0 {
		d.left = append(d.left, count(earlier, "earlier", thing))
	}
	if between > 0 {
		d.left = append(d.left, count(between, "", thing)+" in between")
	}
	if later > 0 {
		d.left = append(d.left, count(later, "later", thing))
	}
}

// holderNames gives each hold a readable and unique name.
type holderNames map[string]checker.Grant

func (h holderNames) of(g checker.Grant) string {
	name := fmt.Sprintf("client %d (%s)", g.Client, textfmt.Token(g.Token))
	if other, taken := h[name]; taken && !sameGrant(g, other) {
		return fmt.Sprintf("client %d (%s)", g.Client, g.Token)
	}
	h[name] = g
	return name
}

// windowOperations makes the operations of a window, see [model.LeaseLock].
func windowOperations(w checker.Window, holder string, fenced bool) []operation {
	step := func(s model.LeaseStep, from, to history.Time, text, details string) operation {
		in := model.LeaseInput{Step: s, Resource: w.Grant.Resource, Holder: holder}
		o := operation{client: w.Grant.Client, Operation: porcupine.Operation{
			Input: in, Output: text, Call: int64(from), Return: int64(to),
			Metadata: fmt.Sprintf("%s of %q by %s: %s", s, w.Grant.Resource, holder, details),
		}}
		if fenced {
			o.Input = model.FencedLockInput{LeaseInput: in, Fence: w.Fence}
			if s != model.End && w.Fence != 0 {
				o.Output = fmt.Sprintf("%s, fence %d", text, w.Fence)
			}
		}
		return o
	}
	name := "acquire " + textfmt.Token(w.Grant.Token)
	if w.Empty && w.Late {
		return []operation{step(model.Claim, w.From, w.From, "extend "+textfmt.Token(w.Grant.Token), fmt.Sprintf(
			"granted at %s, when the hold was over since %s, and ended in that instant; nobody else may have held the lock in between", at(w.From), at(w.Over)))}
	}
	if w.Empty {
		return []operation{step(model.Touch, w.Call, w.From, name+", nothing left",
			fmt.Sprintf("its window was over when it was granted at %s; the lock had to be free at some point from %s on", at(w.From), at(w.Call)))}
	}
	begin, details := model.Acquire, fmt.Sprintf("called at %s, granted at %s", at(w.Call), at(w.From))
	if w.Late {
		begin, name = model.Renew, "extend "+textfmt.Token(w.Grant.Token)
		details += fmt.Sprintf(", when the hold was over since %s; nobody else may have held the lock in between", at(w.Over))
	}
	all := []operation{step(begin, w.Call, w.From, name, details)}
	if w.By != 0 {
		all = append(all, step(model.End, w.To, w.To, w.Ending(), "the window ends at "+at(w.To)))
	}
	return all
}
