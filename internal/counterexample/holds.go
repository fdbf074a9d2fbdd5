package counterexample

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/model"
)

// holdOperations makes operations of windows, as the specifications of locks want them.
func (e *excerpt) holdOperations(d *drawing) []operation {
	fenced := e.subject == checker.Fence
	d.model = model.LeaseLock
	if fenced {
		d.model = model.FencedLock
	}
	d.model.DescribeOperation = func(_, output any) string { return output.(string) }

	kept := e.windows()
	d.skip("hold", kept.earlier, kept.between, kept.later)
	names := holders{}
	var all []operation
	for _, w := range kept.all() {
		all = append(all, holdSteps(w, names.of(w.Grant), fenced)...)
		d.include(w.Call, w.To)
	}
	return all
}

// skip says what is left out, and that was read.
func (d *drawing) skip(thing string, earlier, between, later int) {
	if earlier > 0 {
		d.left = append(d.left, some(earlier, "earlier", thing))
	}
	if between > 0 {
		d.left = append(d.left, some(between, "", thing)+" in between")
	}
	if later > 0 {
		d.left = append(d.left, some(later, "later", thing))
	}
}

// holders names holds, each by its own name, for states that people read.
type holders map[string]checker.Grant

func (h holders) of(g checker.Grant) string {
	name := fmt.Sprintf("client %d (%s)", g.Client, short(g.Token))
	if other, taken := h[name]; taken && !is(g, other) {
		return fmt.Sprintf("client %d (%s)", g.Client, g.Token)
	}
	h[name] = g
	return name
}

// holdSteps is one window as operations: see [model.LeaseLock].
func holdSteps(w checker.Window, holder string, fenced bool) []operation {
	step := func(s model.LeaseStep, from, to history.Time, text, told string) operation {
		in := model.LeaseInput{Step: s, Resource: w.Grant.Resource, Holder: holder}
		o := operation{client: w.Grant.Client, Operation: porcupine.Operation{
			Input: in, Output: text, Call: int64(from), Return: int64(to),
			Metadata: fmt.Sprintf("%s of %q by %s: %s", s, w.Grant.Resource, holder, told),
		}}
		if fenced {
			o.Input = model.FencedLockInput{LeaseInput: in, Fence: w.Fence}
			if s != model.End && w.Fence != 0 {
				o.Output = fmt.Sprintf("%s, fence %d", text, w.Fence)
			}
		}
		return o
	}
	name := "acquire " + short(w.Grant.Token)
	if w.Empty && w.Late {
		return []operation{step(model.Claim, w.From, w.From, "extend "+short(w.Grant.Token), fmt.Sprintf(
			"granted at %s, when the hold was over since %s, and ended in that instant; nobody else may have held the lock in between", at(w.From), at(w.Over)))}
	}
	if w.Empty {
		return []operation{step(model.Touch, w.Call, w.From, name+", nothing left",
			fmt.Sprintf("its window was over when it was granted at %s; the lock had to be free at some point from %s on", at(w.From), at(w.Call)))}
	}
	begin, told := model.Acquire, fmt.Sprintf("called at %s, granted at %s", at(w.Call), at(w.From))
	if w.Late {
		begin, name = model.Renew, "extend "+short(w.Grant.Token)
		told += fmt.Sprintf(", when the hold was over since %s; nobody else may have held the lock in between", at(w.Over))
	}
	all := []operation{step(begin, w.Call, w.From, name, told)}
	if w.By != 0 {
		all = append(all, step(model.End, w.To, w.To, w.Ending(), "the window ends at "+at(w.To)))
	}
	return all
}
