package sim

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var nodeFaults = handlers{
	handler[*nemesis.Crash]{
		Features: []nemesis.Feature{nemesis.RestartDelayFeature},
		Begin: func(w *World, f injection[*nemesis.Crash]) error {
			n := w.node(f.Action.Node)
			w.goDown(n, w.setting.Persistence.Keeps())
			w.keepWritten(n)
			w.restartAfter(n, f.Number, f.Action.RestartDelay)
			return nil
		},
		End: func(w *World, f injection[*nemesis.Crash]) error {
			w.comeUp(w.node(f.Action.Node))
			return nil
		},
	},
	handler[*nemesis.Shutdown]{
		Features: []nemesis.Feature{nemesis.RestartDelayFeature},
		Begin: func(w *World, f injection[*nemesis.Shutdown]) error {
			n := w.node(f.Action.Node)
			w.answer(n) // a server finishes what it has begun
			w.goDown(n, w.setting.Persistence.Keeps())
			w.keepWritten(n)
			n.journal.settle()
			w.restartAfter(n, f.Number, f.Action.RestartDelay)
			return nil
		},
		End: func(w *World, f injection[*nemesis.Shutdown]) error {
			w.comeUp(w.node(f.Action.Node))
			return nil
		},
	},
	handler[*nemesis.PowerLoss]{
		Features: []nemesis.Feature{nemesis.RestartDelayFeature, nemesis.StuckSyncFeature, nemesis.TornRefuseFeature},
		Prepare: func(w *World, f injection[*nemesis.PowerLoss]) {
			switch s := &w.setting; {
			case s.Persistence == nemesis.EverySecond:
				j := w.keepJournal(w.node(f.Action.Node))
				j.everySecond, j.stuck = true, max(j.stuck, int64(f.Action.StuckSync))
			case s.Persistence == nemesis.Always && s.Sync != nil:
				w.keepJournal(w.node(f.Action.Node))
			}
		},
		Begin: func(w *World, f injection[*nemesis.PowerLoss]) error {
			n := w.node(f.Action.Node)
			syncing := n.syncing
			if f.Action.TornTail == nemesis.TornRefuse {
				w.goDown(n, "")
			} else {
				w.goDark(n, w.setting.Persistence.KeepsWithoutPower(), f.ForGood)
			}
			w.keepSynced(n, syncing, f.Action.StuckSync)
			w.restartAfter(n, f.Number, f.Action.RestartDelay)
			return nil
		},
		End: func(w *World, f injection[*nemesis.PowerLoss]) error {
			w.comeUp(w.node(f.Action.Node))
			return nil
		},
	},
	// stopping disturbs the node's links, because nobody can count on a round trip
	// to it meanwhile.
	handler[*nemesis.NodePause]{
		Begin: func(w *World, f injection[*nemesis.NodePause]) error {
			n := w.node(f.Action.Node)
			n.stopped, n.forGood = true, f.ForGood
			w.turnout()
			w.links.Disturb(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
			return nil
		},
		End: func(w *World, f injection[*nemesis.NodePause]) error {
			n := w.node(f.Action.Node)
			n.stopped = false
			w.turnout()
			w.proceed(n)
			w.letGo(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
			return nil
		},
	},
}

// keepWritten is what a process loses that dies: nothing that it has written to
// a file, for the kernel has it.
func (w *World) keepWritten(n *node) {
	if w.setting.Persistence == nemesis.Nothing {
		w.forgetEvery(n, anyKey, history.Forgotten)
		n.journal.settle()
	}
}

// keepSynced is what a machine loses without power: what was not synced. syncing
// says that a sync had not come to its end; stuck is how long the disk has completed
// none. A record that the power loss has cut was not synced, so a server that loads
// what is before it has lost nothing by the cut.
func (w *World) keepSynced(n *node, syncing bool, stuck time.Duration) {
	switch {
	case w.setting.Persistence == nemesis.Nothing:
		w.keepWritten(n)
	case w.setting.Persistence == nemesis.EverySecond:
		w.rollBack(n, n.journal.synced(w.now-int64(stuck)))
	case syncing: // what it waits for was not acknowledged
		w.rollBack(n, n.journal.command)
	}
}

// untouched is what a fault does to a link that is as good as ever, while the
// node behind it is not.
func untouched(int, int) {}
