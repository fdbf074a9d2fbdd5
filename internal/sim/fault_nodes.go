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
	// The node's links count as down: no client can expect a round trip.
	handler[*nemesis.NodePause]{
		Begin: func(w *World, f injection[*nemesis.NodePause]) error {
			n := w.node(f.Action.Node)
			n.stopped, n.forGood = true, f.ForGood
			w.leaderChanged()
			w.links.Disturb(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
			return nil
		},
		End: func(w *World, f injection[*nemesis.NodePause]) error {
			n := w.node(f.Action.Node)
			n.stopped = false
			w.leaderChanged()
			w.proceed(n)
			w.letGo(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
			return nil
		},
	},
}

// keepWritten applies what a node loses when its process dies. What the process has
// written to a file survives in the kernel.
func (w *World) keepWritten(n *node) {
	if w.setting.Persistence == nemesis.Nothing {
		w.forgetEvery(n, anyKey, history.Forgotten)
		n.journal.settle()
	}
}

// keepSynced applies what a node loses when its machine loses power: every change
// that was not synced. syncing says that a sync was in progress; stuck is for how long
// the disk had completed no sync. A record that the power loss tore was not synced, so
// loading the records before it loses nothing more.
func (w *World) keepSynced(n *node, syncing bool, stuck time.Duration) {
	switch {
	case w.setting.Persistence == nemesis.Nothing:
		w.keepWritten(n)
	case w.setting.Persistence == nemesis.EverySecond:
		w.rollBack(n, n.journal.synced(w.now-int64(stuck)))
	case syncing: // the command that waits for the sync was not acknowledged
		w.rollBack(n, n.journal.command)
	}
}

// untouched changes nothing about a link. It is for faults that affect only the node
// behind the link.
func untouched(int, int) {}
