//go:build linux

package live

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A copy of a SET comes after the DEL, and its answer shifts no other: the key stands
// again, by the token that nobody uses any more.
func TestCopyOfASetLeavesAnOrphan(t *testing.T) {
	after := nemesis.Distribution{Range: nemesis.Range{Min: 300 * time.Millisecond, Max: 300 * time.Millisecond}}
	w := newTrial(t, nemesis.Setting{Plan: between(nemesis.Fault{Action: &nemesis.Duplicate{After: after}})})
	w.mustRun(func(int) {
		w.ask(1, env.OpDelete, "warm up", patience) // the scripts are known from here on
		w.Reach(1, begin, 0)
		w.wantAnswers("set", w.ask(1, env.OpSet, "a", patience), env.Yes)
		w.Reach(1, end, 0)
		w.wantAnswers("delete", w.ask(1, env.OpDelete, "a", patience), env.Yes)
		for last := time.Now().Add(patience); w.ask(1, env.OpGet, "", patience)[0] == env.No; {
			if time.Now().After(last) {
				t.Fatal("nothing has come twice")
			}
		}
		w.wantAnswers("set by another token", w.ask(1, env.OpSet, "b", patience), env.No)
		w.wantAnswers("delete by the same token", w.ask(1, env.OpDelete, "a", patience), env.Yes)
	})
}

// Clones draw the same from the instant on in which they became that.
func TestClonesDrawTheSame(t *testing.T) {
	w := newTrial(t, nemesis.Setting{Clients: 3, Plan: nemesis.Plan{
		{Action: &nemesis.Clone{Clients: []int{1, 3}}, Start: nemesis.When(1, begin, 0)},
	}})
	var drawn [2][3][8]byte
	w.mustRun(func(client int) {
		if client != 1 {
			return
		}
		for when := range drawn {
			for c := range 3 {
				w.Runtime(c + 1).Random(drawn[when][c][:])
			}
			w.Reach(1, begin, 0)
		}
	})
	before, after := drawn[0], drawn[1]
	if before[0] == before[2] || after[0] != after[2] || after[0] == after[1] || after[0] == before[0] {
		t.Errorf("before %v, after %v", before, after)
	}
}
