package checker_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/model"
)

// Law: sections that read a number and write one more have an order if and only
// if they are increments of a counter.
func TestIncrementsAgreeWithPorcupineOnCounter(t *testing.T) {
	var seen effects
	counter := model.Counter.ToModel()
	repeat(t, *histories/5, func(t *rapid.T) {
		visits := drawIncrements(t)
		var ops []porcupine.Operation
		for _, op := range visitOperations(visits) {
			out := model.IncrementOutput{Found: op.Input.(model.SectionInput).Read, Unknown: op.Output.(model.SectionOutput).Unknown}
			op.Input, op.Output = model.IncrementInput{Resource: "r"}, out
			ops = append(ops, op)
		}
		legal := porcupine.CheckOperations(counter, ops)
		f := judgeEffect(visits, rapid.SampledFrom([]int{1, 8}).Draw(t, "least"), unlimited, 4)
		if (f.Verdict == checker.Holds) != legal {
			t.Fatalf("%v (%s), but porcupine finds legal = %v in %+v", f.Verdict, f.Story(), legal, visits)
		}
		seen.count(visits, legal, f.Verdict)
	})
	seen.check(t)
}

// drawIncrements draws sections most of which read the current value.
func drawIncrements(t *rapid.T) []visit {
	visits := make([]visit, rapid.IntRange(1, 30).Draw(t, "sections"))
	recorded := rapid.Bool().Draw(t, "applies are recorded")
	value, now := int64(0), 0
	for i := range visits {
		v := &visits[i]
		v.client, v.read = i+1, value
		if rapid.IntRange(1, 20).Draw(t, "stale") == 20 {
			v.read = max(0, value-1)
		}
		v.wrote = v.read + 1
		v.outcome = rapid.SampledFrom([]history.Outcome{history.OK, history.OK, history.OK, history.Unknown, history.Declined}).Draw(t, "outcome")
		v.call = max(0, now+rapid.SampledFrom([]int{1, 1, 0, -2}).Draw(t, "gap"))
		v.ret = v.call + 3*rapid.IntRange(1, 3).Draw(t, "took")
		now = max(now, v.ret)
		if v.outcome == history.OK || v.outcome == history.Unknown && rapid.Bool().Draw(t, "took effect") {
			value = v.wrote
			if recorded {
				v.drawApplied(t)
			}
		}
	}
	return visits
}

// fencedAccess is one access under its section's own fence: the times of call, arrival and return.
// An unknown write, the last of a killed client, has no return.
type fencedAccess struct {
	client            int
	call, arrive, ret int
	write             bool
	value             int64 // read or written
	lost              bool  // it does not arrive
	unknown           bool
	declined          bool
}

const lateness = 60

// drawFenced lets sections access a guard at once and tells what it answered. A
// section's fence is its client's number, and they begin in any order.
func drawFenced(t *rapid.T, g *guard.Guard) []*fencedAccess {
	var reads, all []*fencedAccess
	for client := range rapid.IntRange(1, 6).Draw(t, "sections") {
		r := &fencedAccess{client: client + 1, call: rapid.IntRange(0, 25).Draw(t, "call")}
		r.answer(t)
		reads = append(reads, r)
	}
	pending := slices.Clone(reads)
	for len(pending) > 0 {
		slices.SortStableFunc(pending, func(a, b *fencedAccess) int { return cmp.Compare(a.arrive, b.arrive) })
		a := pending[0]
		pending = pending[1:]
		all = append(all, a)
		if a.arriveAt(g); a.write || a.declined {
			continue
		}
		w := &fencedAccess{client: a.client, write: true, call: a.ret + rapid.IntRange(1, 6).Draw(t, "work"), value: a.value + 1}
		w.answer(t)
		if rapid.IntRange(0, 4).Draw(t, "unknown") == 4 {
			w.unknown, w.lost = true, rapid.Bool().Draw(t, "lost")
			w.arrive += rapid.IntRange(0, 10).Draw(t, "late")
		}
		pending = append(pending, w)
	}
	return all
}

func (a *fencedAccess) answer(t *rapid.T) {
	a.arrive = a.call + rapid.IntRange(0, 2).Draw(t, "there")
	a.ret = max(a.arrive, a.call+1) + rapid.IntRange(0, 2).Draw(t, "back")
}

func (a *fencedAccess) arriveAt(g *guard.Guard) {
	fence, token, ok := uint64(a.client), fmt.Sprint("token", a.client), true
	switch {
	case a.lost:
	case a.write:
		ok = g.Write("r", token, fence, a.value)
	default:
		a.value, ok = g.Read("r", token, fence)
	}
	a.declined = !ok
}

// applied reports whether the history has an apply of the access.
func (a *fencedAccess) applied() bool { return a.write && !a.lost && !a.declined }

func fencedOperations(accesses []*fencedAccess) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, a := range accesses {
		op := porcupine.Operation{
			Input:  model.FencedAccess{Resource: "r", Fence: uint64(a.client), Write: a.write, Wrote: a.value},
			Output: model.FencedAnswer{Read: a.value, Declined: a.declined, Unknown: a.unknown && !a.applied()},
			Call:   int64(a.call), Return: int64(a.ret),
		}
		switch {
		case a.unknown && a.applied():
			op.Return = int64(a.arrive)
		case a.unknown:
			op.Return = lateness
		}
		ops = append(ops, op)
	}
	return ops
}

func fencedEvents(accesses []*fencedAccess) []history.Event {
	var events []history.Event
	for _, a := range accesses {
		e := history.Event{Client: a.client, Resource: "r", Token: fmt.Sprint("token", a.client), Fence: uint64(a.client), Outcome: history.OK}
		add := func(at int, k history.Kind) {
			e.Time, e.Kind = history.Time(at), k
			events = append(events, e)
		}
		call, ret := history.Read, history.ReadDone
		if a.write {
			call, ret, e.Value = history.Write, history.WriteDone, a.value
		}
		add(a.call, call)
		e.Value = a.value
		if a.declined {
			e.Outcome = history.Declined
		}
		if a.unknown {
			ret = history.Kill
		}
		if a.applied() {
			add(a.arrive, history.Apply)
		}
		add(a.ret, ret)
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	return append(events, history.Event{Time: lateness, Kind: history.End})
}

// Law: what a register does that checks fences on reads and writes keeps effect
// exclusion, if each section has its own fence; so where the judge finds a
// violation, porcupine finds that the history is not one of such a register.
// A register that checks less, or tells lies, breaks both.
func TestFencedRegisterKeepsEffectExclusion(t *testing.T) {
	all, declines, violated, faithful := 0, 0, 0, 0
	register := model.FencedRegister.ToModel()
	repeat(t, *histories/5, func(t *rapid.T) {
		mode := rapid.SampledFrom([]guard.Mode{guard.Fenced, guard.Fenced, guard.FencedWrites, guard.Plain}).Draw(t, "mode")
		accesses := drawFenced(t, guard.New(mode))
		lie := rapid.IntRange(0, 5).Draw(t, "lie") == 5
		if lie {
			rapid.SampledFrom(accesses).Draw(t, "liar").value++
		}
		legal := porcupine.CheckOperations(register, fencedOperations(accesses))
		f := judgeEffectOf(fencedEvents(accesses), 6, 1, unlimited, 4)
		if mode == guard.Fenced && !lie {
			faithful++
			if !legal {
				t.Fatalf("porcupine finds that the guard does not check fences: %s", describeAll(accesses))
			}
		}
		if legal && f.Verdict == checker.Violated {
			t.Fatalf("%s, but porcupine finds that fences were checked: %s", f.Story(), describeAll(accesses))
		}
		all++
		if slices.ContainsFunc(accesses, func(a *fencedAccess) bool { return a.declined }) {
			declines++
		}
		if f.Verdict == checker.Violated {
			violated++
		}
	})
	t.Logf("of %d histories %d are a fenced register's, %d have declined accesses, %d break effect exclusion", all, faithful, declines, violated)
	if !t.Failed() && (faithful*4 < all || declines*4 < all || violated*10 < all) {
		t.Error("want a quarter a fenced register's, a quarter with declined accesses, and a tenth that break effect exclusion")
	}
}

func describeAll(accesses []*fencedAccess) string {
	var text string
	for _, op := range fencedOperations(accesses) {
		text += fmt.Sprintf("\n%d-%d %s", op.Call, op.Return, model.FencedRegister.DescribeOperation(op.Input, op.Output))
	}
	return text
}
