//go:build linux

package live

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// What is done to a server, and what becomes of a key on it: what a SET by another token
// answers before, during and after the fault.
func TestWhatHappensToServers(t *testing.T) {
	const briefly = 100 * time.Millisecond
	for name, c := range map[string]struct {
		action        nemesis.Action
		momentary     bool
		persistence   nemesis.Persistence
		during, after env.Answer
	}{
		"shutdown, nothing kept": {&nemesis.Shutdown{Node: 1}, false, nemesis.Nothing, env.Lost, env.Yes},
		"shutdown, all kept":     {&nemesis.Shutdown{Node: 1}, false, nemesis.EverySecond, env.Lost, env.No},
		"stands still":           {&nemesis.NodePause{Node: 1}, false, nemesis.Nothing, env.Lost, env.No},
		"evicts":                 {&nemesis.Evict{Node: 1}, true, nemesis.Nothing, env.Yes, env.No},
		"flushes its scripts":    {&nemesis.ScriptFlush{Node: 1}, true, nemesis.Nothing, env.No, env.No},
		"is out of memory":       {&nemesis.NodeError{Nodes: []int{1}, Error: nemesis.OOM}, false, nemesis.Nothing, env.Failed, env.No},
		"is read only":           {&nemesis.NodeError{Error: nemesis.ReadOnly}, false, nemesis.Nothing, env.Failed, env.No},
	} {
		t.Run(name, func(t *testing.T) {
			plan := between(nemesis.Fault{Action: c.action})
			if c.momentary {
				plan[0].End = nil
			}
			w := newTrial(t, nemesis.Setting{Persistence: c.persistence, Plan: plan})
			w.mustRun(func(int) {
				w.wantAnswers("at first", w.ask(1, env.OpSet, "a", patience), env.Yes)
				w.Reach(1, begin, 0)
				w.wantAnswers("during the fault", w.ask(1, env.OpSet, "b", briefly), c.during)
				w.Reach(1, end, 0)
				w.wantAnswers("after it", w.ask(1, env.OpSet, "c", patience), c.after)
			})
		})
	}
}

// What a server that stands still was asked meanwhile it does when it goes on: a SET of
// a key that was free then, though its client gave it up long ago.
func TestServerThatGoesOnDoesWhatItWasAsked(t *testing.T) {
	w := newTrial(t, nemesis.Setting{Plan: between(nemesis.Fault{Action: &nemesis.NodePause{Node: 1}})})
	w.mustRun(func(int) {
		w.ask(1, env.OpDelete, "warm up", patience)
		w.Reach(1, begin, 0)
		w.wantAnswers("while it stands still", w.ask(1, env.OpSet, "a", 50*time.Millisecond), env.Lost)
		w.Reach(1, end, 0)
		for last := time.Now().Add(patience); w.ask(1, env.OpSet, "b", patience)[0] == env.Yes; w.ask(1, env.OpDelete, "b", patience) {
			if time.Now().After(last) {
				t.Fatal("it has forgotten what it was asked")
			}
		}
	})
	w.wantKinds(history.FaultStart, history.LinkDown, history.LinkUp, history.FaultEnd)
}

// A server that is down has nothing to evict, and no plan fails for that.
func TestCommandsToAServerThatIsDown(t *testing.T) {
	w := newTrial(t, nemesis.Setting{Plan: nemesis.Plan{
		{Action: &nemesis.Crash{Node: 1}, Start: nemesis.When(1, begin, 0)},
		{Action: &nemesis.Evict{Node: 1}, Start: nemesis.When(1, end, 0)},
	}})
	w.mustRun(func(int) {
		w.Reach(1, begin, 0)
		w.Reach(1, end, 0)
	})
}
