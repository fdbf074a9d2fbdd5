package live

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
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
				w.takeDown(f.Action.Node, f.Number, f.Action.RestartDelay, func(server Crasher) {
					w.keyWatch(f.Action.Node).finish() // Redis would wait for a replica that is behind
					server.Quit()
				})
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
// [aof.File] for [nemesis.StuckSyncFeature] and [nemesis.TornLoadFeature], and have to be [Refuser]s for
// [nemesis.TornRefuseFeature].
func PowerLosses(features ...nemesis.Feature) FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.PowerLoss]{
			Features: append(slices.Clip(features), nemesis.RestartDelayFeature),
			Prepare: func(w *World, f injection[*nemesis.PowerLoss]) {
				if s, is := w.server(f.Action.Node).(Syncer); is && w.setting.Persistence == nemesis.EverySecond {
					phase := newRandom(w.seed, fmt.Sprintf("syncs of node %d", f.Action.Node)).bits() % uint64(time.Second)
					s.SyncFrom(time.Duration(phase))
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
	return p.AsksFor(nemesis.TornLoadFeature) || p.AsksFor(nemesis.TornRefuseFeature)
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

// Stops returns the handler for a fleet of [Stopper]s, which have to be [Commander]s for
// [nemesis.ClientPauseFeature]. The links of a stopped node count as down: no client can expect a quick
// round trip.
func Stops(features ...nemesis.Feature) FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.NodePause]{
			Features: features,
			Begin: func(w *World, f injection[*nemesis.NodePause]) error {
				w.links.Disturb(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
				if f.Action.ClientPause {
					return w.pauseClients(f.Action.Node)
				}
				w.states[f.Action.Node-1] = stopped
				return w.server(f.Action.Node).(Stopper).Stop()
			},
			End: func(w *World, f injection[*nemesis.NodePause]) error {
				w.states[f.Action.Node-1] = up
				var err error
				if f.Action.ClientPause {
					err = w.command(f.Action.Node, unpauseClients)
				} else {
					err = w.server(f.Action.Node).(Stopper).Continue()
				}
				w.links.Mend(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
				return err
			},
		},
	}
}

// pauseClients makes a node's server hold back its clients' requests.
func (w *World) pauseClients(node int) error {
	err := w.command(node, pauseClients)
	w.states[node-1] = stopped
	return err
}

// goDown records that a node's server goes down. Its machine stays up and resets the
// connections.
func (w *World) goDown(node int, left string) {
	w.plan.awaitEnd(w.recoveries[node-1].ending)
	w.keyWatch(node).suspend()
	w.injector.Record(history.Event{Kind: history.NodeDown, Node: node})
	w.states[node-1], w.recoveries[node-1] = down, recovery{left: left}
}

// goDark cuts a node off as a power loss does. No client is told: messages in both
// directions wait until the machine is back, which resets their connections.
func (w *World) goDark(node, fault int) {
	left := w.setting.Persistence.KeepsWithoutPower()
	if w.fleet.Store != nil { // it does not depend on the setting
		left = history.WithWhatItSynced
	}
	w.silence(node, fault, left)
}

// silence makes a node's machine unreachable. left says which keys its server keeps.
func (w *World) silence(node, fault int, left string) {
	w.eachDirection(node, func(l *wire.Direction) { l.Impose(fault, nemesis.HoldAll()) })
	w.goDown(node, left)
	w.recoveries[node-1].dark = fault
}

// comeUp starts a server again and so ends a fault.
func (w *World) comeUp(node, fault int) {
	server := w.crasher(node)
	w.recover(node, fault, func() error { return server.Start(w.over) }, func() {})
}

// recover brings a node back and so ends a fault. restart runs in the background; back
// runs when it is done, with the lock held.
//
// A server answers before we know that it does. Until the history says that it is up, its links refuse
// connections and hold back messages: otherwise a client could be granted a lock by a node that is
// recorded as down, and a finding could not say that the node had come back without its keys.
func (w *World) recover(node, fault int, restart func() error, back func()) {
	w.eachLink(node, func(l *wire.Link) { l.Refuse(true) })
	again := func() error {
		w.keyWatch(node).finish()
		return restart()
	}
	w.recoveries[node-1].ending = w.plan.endLater(fault, again, func() {
		back()
		was := w.recoveries[node-1]
		w.states[node-1], w.recoveries[node-1] = up, recovery{}
		w.injector.Record(history.Event{Kind: history.NodeUp, Node: node, Detail: was.left})
		w.eachLink(node, func(l *wire.Link) { l.Refuse(false) })
		if was.dark != 0 {
			w.eachDirection(node, func(d *wire.Direction) { d.Lift(was.dark) })
		}
		w.keyWatch(node).resume(w.server(node).Addr(), was.lost(w.setting.Persistence))
	})
}

// eachLink calls do with every link of a node.
func (w *World) eachLink(node int, do func(*wire.Link)) {
	for client := 1; client <= w.setting.Clients; client++ {
		do(w.network.Link(client, node))
	}
}

// eachDirection calls do with both directions of every link of a node.
func (w *World) eachDirection(node int, do func(*wire.Direction)) {
	w.eachLink(node, func(l *wire.Link) { l.Each(nemesis.Both, do) })
}

// restartAfter makes a node's machine restart its server, and so end a fault, when the
// node's wall clock has advanced by delay. With no delay the plan ends the fault.
func (w *World) restartAfter(node, fault int, delay time.Duration) {
	if delay > 0 {
		w.recoveries[node-1].fault, w.recoveries[node-1].at = fault, w.walls[node-1].At(w.ground.now())+int64(delay)
		w.awaitRestart(node)
	}
}

// awaitRestart schedules a check of a node's clock for when it should reach the restart
// time. It has to be called when the clock changes.
func (w *World) awaitRestart(node int) {
	back := w.recoveries[node-1]
	if back.fault == 0 {
		return
	}
	at := max(w.walls[node-1].When(back.at), w.ground.now())
	if at == math.MaxInt64 {
		return
	}
	w.plan.later(at, func() {
		if w.recoveries[node-1].fault != back.fault || w.recoveries[node-1].at != back.at || w.walls[node-1].At(w.ground.now()) < back.at {
			return // the node is back, or its clock was changed and another check is scheduled
		}
		w.recoveries[node-1].fault = 0
		w.comeUp(node, back.fault)
	})
}

// lost is the reason why keys of a node are gone that comes back.
func (r recovery) lost(p nemesis.Persistence) string {
	if p == nemesis.Nothing && r.left == p.Keeps() {
		return history.Forgotten
	}
	return history.RolledBack
}
