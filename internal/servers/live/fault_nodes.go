package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Outages returns the handlers for a fleet of [Crasher]s: crash and shutdown.
func Outages() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.Crash]{
			Features: []nemesis.Feature{nemesis.RestartDelayFeature},
			Begin: func(w *World, f injection[*nemesis.Crash]) error {
				w.takeDown(f.Action.Node, f.Number, f.Action.RestartDelay, Crasher.Kill)
				return nil
			},
			End: func(w *World, f injection[*nemesis.Crash]) error {
				w.comeUp(f.Action.Node, f.Number)
				return nil
			},
			EndsLater: true,
		},
		handler[*nemesis.Shutdown]{
			Features: []nemesis.Feature{nemesis.RestartDelayFeature},
			Begin: func(w *World, f injection[*nemesis.Shutdown]) error {
				w.takeDown(f.Action.Node, f.Number, f.Action.RestartDelay, Crasher.Quit)
				return nil
			},
			End: func(w *World, f injection[*nemesis.Shutdown]) error {
				w.comeUp(f.Action.Node, f.Number)
				return nil
			},
			EndsLater: true,
		},
	}
}

// takeDown stops a node's server with stop. The end of the fault starts it again,
// or its machine does after the delay.
func (w *World) takeDown(node, fault int, restartDelay time.Duration, stop func(Crasher)) {
	w.goDown(node, w.setting.Persistence.Keeps())
	stop(w.crasher(node))
	w.restartAfter(node, fault, restartDelay)
}

func (w *World) crasher(node int) Crasher { return w.server(node).(Crasher) }

// PowerLosses returns the handler for a fleet of [Powered] servers. They need an
// [aof.File] for [nemesis.StuckSyncFeature], and have to be [Refuser]s for
// [nemesis.TornRefuseFeature].
func PowerLosses(features ...nemesis.Feature) FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.PowerLoss]{
			Features: append(slices.Clip(features), nemesis.RestartDelayFeature),
			Prepare: func(w *World, f injection[*nemesis.PowerLoss]) {
				if w.setting.Persistence == nemesis.EverySecond {
					phase := newRandom(w.seed, fmt.Sprintf("syncs of node %d", f.Action.Node)).bits() % uint64(time.Second)
					w.server(f.Action.Node).(Powered).SyncFrom(time.Duration(phase))
				}
			},
			Begin: func(w *World, f injection[*nemesis.PowerLoss]) error {
				if f.Action.TornTail == nemesis.TornRefuse {
					return w.loseForGood(f)
				}
				w.goDark(f.Action.Node, f.Number)
				err := w.server(f.Action.Node).(Powered).LosePower(lossOf(f.Action))
				w.restartAfter(f.Action.Node, f.Number, f.Action.RestartDelay)
				return err
			},
			End:       func(w *World, f injection[*nemesis.PowerLoss]) error { w.comeUp(f.Action.Node, f.Number); return nil },
			EndsLater: true,
		},
	}
}

// Torn reports whether a fault of the plan tears an append-only file.
func Torn(p nemesis.Plan) bool {
	return slices.ContainsFunc(p, func(f nemesis.Fault) bool {
		loss, is := f.Action.(*nemesis.PowerLoss)
		return is && loss.TornTail != ""
	})
}

func lossOf(p *nemesis.PowerLoss) aof.Loss {
	return aof.Loss{Stuck: p.StuckSync, Torn: p.TornTail != ""}
}

// loseForGood cuts the power of a machine that is back at once, but whose server
// rejects its append-only file and does not start.
func (w *World) loseForGood(f injection[*nemesis.PowerLoss]) error {
	w.goDown(f.Action.Node, "")
	server := w.server(f.Action.Node).(Refuser)
	if err := server.LosePower(lossOf(f.Action)); err != nil {
		return err
	}
	w.tasks.start(fmt.Sprintf("restart of node %d", f.Action.Node), func() {
		if err := server.Refuse(w.over); err != nil && w.over.Err() == nil {
			w.fail(err)
		}
	}, w.fail)
	return nil
}

// Stops returns the handler for a fleet of [Stopper]s. The links of a stopped node
// count as down: no client can expect a quick round trip.
func Stops() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.NodePause]{
			Begin: func(w *World, f injection[*nemesis.NodePause]) error {
				w.links.Disturb(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
				w.states[f.Action.Node-1] = stopped
				return w.server(f.Action.Node).(Stopper).Stop()
			},
			End: func(w *World, f injection[*nemesis.NodePause]) error {
				w.states[f.Action.Node-1] = up
				err := w.server(f.Action.Node).(Stopper).Continue()
				w.links.Mend(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
				return err
			},
		},
	}
}

// untouched changes nothing about a link. It is for faults that affect only the node
// behind the link.
func untouched(int, int) {}
