package checker_test

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
	"github.com/lockstorm/lockstorm/model"
)

// told makes operations of the windows that the checker reports.
func told(windows []timeline.Window) []porcupine.Operation {
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
func isGap(p *checker.Place, windows []timeline.Window) bool {
	return slices.ContainsFunc(windows, func(w timeline.Window) bool {
		return w.Late && w.Grant.Resource == p.Resource && w.Over == p.From && w.From == p.To
	})
}

// TestWindowsAreThoseThatAreJudged: porcupine finds an order of the reported windows if and only if
// the checker, which reports them, finds no violation.
func TestWindowsAreThoseThatAreJudged(t *testing.T) {
	repeat(t, 10_000, func(t *rapid.T) {
		header, events := write(drawScripts(t), rapid.Uint64().Draw(t, "order"))
		for _, p := range []checker.Property{checker.Lease, checker.Section} {
			var windows []timeline.Window
			line, of := timeline.New(header), timeline.LeaseWindow
			if p == checker.Section {
				of = timeline.SectionWindow
			}
			panel := checker.Of(line, p)
			line.Windows(of, func(w timeline.Window) { windows = append(windows, w) })
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

// A hold without an end in a store belongs to its client's connection: it ends when the client dies.
// A key without a TTL on a node stays.
func TestAHoldWithoutAnEndInAStoreEndsWithItsClient(t *testing.T) {
	for keepers, want := range map[int]checker.Verdict{-1: checker.Holds, 1: checker.Violated} {
		c := checker.New(history.Header{Nodes: 1, Clients: 2, Keepers: keepers})
		for i, e := range []history.Event{
			{Kind: history.Acquire, Client: 1, Resource: "r", Token: "a"},
			{Kind: history.Granted, Client: 1, Resource: "r", Token: "a"},
			{Kind: history.Kill, Client: 1},
			{Kind: history.Acquire, Client: 2, Resource: "r", Token: "b"},
			{Kind: history.Granted, Client: 2, Resource: "r", Token: "b"},
			{Kind: history.Release, Client: 2, Resource: "r", Token: "b"},
			{Kind: history.Released, Client: 2, Resource: "r", Token: "b", Outcome: history.OK},
			{Kind: history.End},
		} {
			e.Time = history.Time(i + 1)
			c.Record(&e)
		}
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		report := c.Finish()
		if got := report.Finding(checker.Lease).Verdict; got != want {
			t.Errorf("%d keepers: lease exclusion is %v, want %v", keepers, got, want)
		}
		if got := report.Finding(checker.Section).Verdict; got != checker.Holds {
			t.Errorf("%d keepers: section exclusion is %v", keepers, got)
		}
	}
}
