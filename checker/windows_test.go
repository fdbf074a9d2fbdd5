package checker_test

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/model"
)

// told makes operations of the windows that the checker reports.
func told(windows []checker.Window) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, w := range windows {
		op := func(step model.LeaseStep, call, ret int64) {
			in := model.LeaseInput{Step: step, Resource: w.Grant.Resource, Holder: w.Grant.Token}
			ops = append(ops, porcupine.Operation{Input: in, Call: call, Return: ret})
		}
		if w.Empty && w.Late {
			op(model.Claim, int64(w.From), int64(w.From))
			continue
		}
		if w.Empty {
			op(model.Touch, int64(w.Call), int64(w.From))
			continue
		}
		begin := model.Acquire
		if w.Late {
			begin = model.Renew
		}
		op(begin, int64(w.Call), int64(w.From))
		if w.By != 0 {
			op(model.End, int64(w.To), int64(w.To))
		}
	}
	return ops
}

// isGap reports whether the place is the time in which a hold was over that goes on.
func isGap(p *checker.Place, windows []checker.Window) bool {
	return slices.ContainsFunc(windows, func(w checker.Window) bool {
		return w.Late && w.Grant.Resource == p.Resource && w.Over == p.From && w.From == p.To
	})
}

// TestWindowsAreThoseThatAreJudged: porcupine finds an order of the reported windows if and only if
// the checker, which reports them, finds no violation.
func TestWindowsAreThoseThatAreJudged(t *testing.T) {
	repeat(t, 10_000, func(t *rapid.T) {
		header, events := write(drawScripts(t), rapid.Uint64().Draw(t, "order"))
		for _, p := range []checker.Property{checker.Lease, checker.Section} {
			var windows []checker.Window
			panel := checker.New(header, p)
			panel.Windows(p, func(w checker.Window) { windows = append(windows, w) })
			for i := range events {
				panel.Record(&events[i])
			}
			f := panel.Finish().Finding(p)
			legal := porcupine.CheckOperations(model.LeaseLock, told(windows))
			if legal != (f.Verdict != checker.Violated) {
				t.Fatalf("%v: %v (%s); of the windows that are told porcupine says legal %v: %+v", p, f.Verdict, f.Story(), legal, windows)
			}
			if f.Verdict != checker.Violated {
				continue
			}
			if w := f.Where; w == nil || w.Resource != f.First.First.Resource || w.From > w.To || w.To != f.First.To && !isGap(w, windows) {
				t.Fatalf("%v: the place of the violation is %+v, its overlap %+v", p, w, f.First)
			}
		}
	})
}
