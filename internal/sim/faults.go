package sim

import (
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Short names for the types that the handlers of faults use.
type (
	handlers                    = world.FaultHandlers[*World]
	handler[A nemesis.Action]   = world.FaultHandler[*World, A]
	injection[A nemesis.Action] = world.Injection[A]
)

// handle returns the handler of a kind of fault: begin starts it, and end, unless it is nil, heals it. In a
// simulated world neither fails.
func handle[A nemesis.Action](begin, end func(w *World, f injection[A]), features ...nemesis.Feature) handler[A] {
	return handler[A]{
		Features: features,
		Begin: func(w *World, f injection[A]) error {
			begin(w, f)
			return nil
		},
		End: func(w *World, f injection[A]) error {
			if end != nil {
				end(w, f)
			}
			return nil
		},
	}
}

// prepared returns a handler that prepares the world before the run.
func prepared[A nemesis.Action](h handler[A], prepare func(w *World, f injection[A])) handler[A] {
	h.Prepare = prepare
	return h
}

// faultHandlers lists the handler of every kind of fault. Package world handles clock
// faults for all worlds.
var faultHandlers = slices.Concat(
	nodeFaults, rollbackFaults, keyFaults, networkFaults, clientFaults,
	world.ClockFaults(func(w *World) *world.Clocks { return w.clocks }, nemesis.NodeClockFeature),
)

// Faults lists the kinds of faults that a simulated world can inject.
func Faults() []nemesis.Kind { return faultHandlers.Kinds() }

// Features lists the features of those kinds that it supports.
func Features() []nemesis.Feature { return faultHandlers.Features() }

// comeUpAgain is the end of a fault that has taken a node's server down.
func comeUpAgain[A nemesis.Action](w *World, f injection[A]) {
	w.comeUp(w.node(f.Action.Effects(w.setting).Outage.Node))
}

var nodeFaults = handlers{
	handle(func(w *World, f injection[*nemesis.Crash]) {
		n := w.node(f.Action.Node)
		w.crash(n, w.setting.Persistence.Keeps())
		w.keepWritten(n)
		w.restartAfter(n, f.Number, f.Action.RestartDelay)
	}, comeUpAgain, nemesis.RestartDelayFeature),

	handle(func(w *World, f injection[*nemesis.Shutdown]) {
		n := w.node(f.Action.Node)
		w.answer(n) // a server finishes what it has begun
		w.flushStore(n)
		w.crash(n, w.setting.Persistence.Keeps())
		w.keepWritten(n)
		n.journal.markDurable()
		w.restartAfter(n, f.Number, f.Action.RestartDelay)
	}, comeUpAgain, nemesis.RestartDelayFeature),

	prepared(handle(func(w *World, f injection[*nemesis.PowerLoss]) {
		n := w.node(f.Action.Node)
		syncing := n.syncing
		if f.Action.TornTail == nemesis.TornRefuse {
			w.crash(n, "")
		} else {
			w.cutPower(n, w.setting.Persistence.KeepsWithoutPower(), f.ForGood)
		}
		w.keepSynced(n, syncing, f.Action.StuckSync)
		w.restartAfter(n, f.Number, f.Action.RestartDelay)
	}, comeUpAgain, nemesis.RestartDelayFeature, nemesis.StuckSyncFeature, nemesis.TornLoadFeature, nemesis.TornRefuseFeature),
		func(w *World, f injection[*nemesis.PowerLoss]) {
			switch s := &w.setting; {
			case s.Persistence == nemesis.EverySecond:
				j := w.keepJournal(w.node(f.Action.Node))
				j.everySecond, j.maxStall = true, max(j.maxStall, int64(f.Action.StuckSync))
			case s.Persistence == nemesis.Always && s.Sync != nil: // otherwise no node is ever syncing, and keepSynced reads no journal
				w.keepJournal(w.node(f.Action.Node))
			}
		}),

	// The node's links count as down: no client can expect a round trip.
	handle(func(w *World, f injection[*nemesis.NodePause]) {
		n := w.node(f.Action.Node)
		w.stop(n, f.Action.ClientPause, f.ForGood)
		if !n.runs() {
			w.fallBehind(n.id)
		}
		w.leaderChanged()
		w.disturbNodes(n.id)
	}, func(w *World, f injection[*nemesis.NodePause]) {
		n := w.node(f.Action.Node)
		w.goOn(n)
		w.leaderChanged()
		for _, i := range w.takePostponed() {
			w.handleAtNode(i)
		}
		w.proceed(n) // what waits in its socket is answered before it hears from the leader
		w.keepUp(n.id)
		w.mendNodes(n.id)
	}, nemesis.ClientPauseFeature),

	// The links of nodes without a majority count as down: they do not reply to clients. A node notices
	// at once that it is cut off.
	handle(func(w *World, f injection[*nemesis.PeerPartition]) {
		minority := f.Action.Minority(len(w.nodes))
		w.disturbNodes(minority...)
		w.fallBehind(minority...)
		w.cutPeers(f.Action.Nodes...)
	}, func(w *World, f injection[*nemesis.PeerPartition]) {
		minority := f.Action.Minority(len(w.nodes))
		w.cutPeers()
		w.keepUp(minority...)
		w.mendNodes(minority...)
	}),

	// While a store has no leader nobody counts, and the next leader begins anew.
	handle(func(w *World, f injection[*nemesis.LeaseRevoked]) {
		if w.store.leader != 0 {
			w.store.machine.endTimers()
			w.expireEntries()
		}
	}, nil),
	handle(func(w *World, f injection[*nemesis.TTLRestart]) {
		if w.store.leader != 0 {
			w.store.machine.restartTimers(w.leaderClocks().mono)
		}
	}, nil),
}

var rollbackFaults = handlers{
	// A master and its replica are one node with one wall clock. After a failover the
	// new master has a replica too, which starts in sync.
	prepared(handle(func(w *World, f injection[*nemesis.Failover]) {
		n := w.node(f.Action.Node)
		if f.Action.Planned {
			w.stop(n, true, f.ForGood)
			w.disturbNodes(n.id)
			return
		}
		w.crash(n, "as its replica, with the keys that had come to it")
		w.rollBack(n, w.replicated(n))
	}, func(w *World, f injection[*nemesis.Failover]) {
		n := w.node(f.Action.Node)
		if w.store != nil && f.Action.Planned {
			w.goOn(n)
			w.handOver(n)
			w.proceed(n)
			w.mendNodes(n.id)
			return
		}
		if f.Action.Planned {
			w.goOn(n)
			w.crash(n, history.WithAllItsKeys)
			n.journal.markDurable()
		}
		w.takeOver(n, f.Number, f.Action)
		if f.Action.Planned {
			w.mendNodes(n.id)
		}
	}, nemesis.NodeClockFeature, nemesis.PlannedFeature, nemesis.UnplannedFeature), func(w *World, f injection[*nemesis.Failover]) {
		if w.setting.Replication != nil {
			w.keepReplica(f.Action.Node)
		}
	}),

	// A split brain gives a node a second master until the fault ends. The history shows one
	// node, which has the keys of both. Its links count as down, because clients that reach
	// different masters see different keys. Other faults of the node affect the old master,
	// except for clock faults, which affect both.
	prepared(handle(func(w *World, f injection[*nemesis.SplitBrain]) {
		w.disturbNodes(f.Action.Node)
		w.promote(w.node(f.Action.Node), f.Action)
	}, func(w *World, f injection[*nemesis.SplitBrain]) {
		w.demote(w.node(f.Action.Node))
		w.mendNodes(f.Action.Node)
	}), func(w *World, f injection[*nemesis.SplitBrain]) { w.keepReplica(f.Action.Node) }),

	prepared(handle(func(w *World, f injection[*nemesis.OldSnapshot]) {
		n := w.node(f.Action.Node)
		w.crash(n, fmt.Sprintf("with the keys of a snapshot %v old", f.Action.Age))
		w.rollBack(n, n.journal.asOf(w.now-int64(f.Action.Age)))
	}, func(w *World, f injection[*nemesis.OldSnapshot]) {
		w.takeOver(w.node(f.Action.Node), f.Number, f.Action)
	}, nemesis.NodeClockFeature), func(w *World, f injection[*nemesis.OldSnapshot]) { w.keepSnapshots(f.Action.Node, f.Action.Age) }),

	// A restore takes back the whole machine. The server does not notice, so its run id stays.
	// Its scripts are those of now; a missing one costs a client a round trip.
	prepared(handle(func(w *World, f injection[*nemesis.VMRestore]) {
		n := w.node(f.Action.Node)
		w.clocks.Begin(f.Number, f.Action.Effects(w.setting).Clock)
		w.vanish(n, fmt.Sprintf("as its machine was %v before, "+history.SameRun, f.Action.Age))
		w.makeUnreachable(n, f.ForGood)
		n.recovery.state = snapshot{w.now - int64(f.Action.Age), n.journal.asOf(w.now - int64(f.Action.Age))}
	}, func(w *World, f injection[*nemesis.VMRestore]) {
		n := w.node(f.Action.Node)
		w.clocks.End(f.Number, f.Action.Effects(w.setting).Clock)
		w.restoreMachine(n, n.recovery.state)
	}, nemesis.NodeClockFeature), func(w *World, f injection[*nemesis.VMRestore]) { w.keepSnapshots(f.Action.Node, f.Action.Age) }),
}

var keyFaults = handlers{
	// A busy node evicts once it has finished its command.
	handle(func(w *World, f injection[*nemesis.Evict]) {
		if n := w.node(f.Action.Node); !n.down {
			n.evicting = eviction{f.Action, f.Number}
			if !n.busy() {
				w.evict(n)
			}
		}
	}, nil, nemesis.OneKeyFeature),

	handle(func(w *World, f injection[*nemesis.ScriptFlush]) { w.node(f.Action.Node).forgetScripts() }, nil),

	// The nodes' links count as down: no client can expect a good reply.
	handle(func(w *World, f injection[*nemesis.NodeError]) {
		w.answerWith(f.Action.Nodes, errorCauses[f.Action.Error])
		w.disturbNodes(f.Action.Nodes...)
	}, func(w *World, f injection[*nemesis.NodeError]) {
		w.answerWith(f.Action.Nodes, 0)
		w.mendNodes(f.Action.Nodes...)
	}, nemesis.LoadingFeature),
}

var errorCauses = map[nemesis.ErrorName]cause{nemesis.Loading: loading, nemesis.OOM: oom, nemesis.ReadOnly: readOnly}

func (w *World) answerWith(nodes []int, c cause) {
	for _, id := range nemesis.Each(nodes, len(w.nodes)) {
		w.node(id).failing = c
	}
}

// disturb applies change to one direction, or both, of every selected link, on
// behalf of a fault that begins.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, change func(*linkDirection)) {
	w.links.Disturb(which, func(client, node int) { w.network.link(client, node).each(way, change) })
}

// mend applies restore to them when the fault ends.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, restore func(*linkDirection)) {
	w.endLinkFault(which, func(client, node int) { w.network.link(client, node).each(way, restore) })
}

// disturbNodes marks the links of nodes as affected by one more fault, and mendNodes by one fault less. The
// handler of a fault that makes a node late or silent calls both: the history then shows the links as down, and
// the checker does not blame the lock. mendNodes comes last, after [World.proceed] has let the node process what waits.
func (w *World) disturbNodes(nodes ...int) {
	w.links.Disturb(nemesis.Links{Nodes: nodes}, untouched)
}

func (w *World) mendNodes(nodes ...int) { w.endLinkFault(nemesis.Links{Nodes: nodes}, untouched) }

var networkFaults = handlers{
	// One handler injects every kind that only affects messages between clients and
	// nodes, by its rule.
	handle(func(w *World, f injection[nemesis.Traffic]) {
		r := f.Action.Rule(w.faultDraws(f.Action, f.Stream()))
		over, way := f.Action.Over(w.setting)
		for _, links := range over {
			w.disturb(links, way, func(l *linkDirection) { l.rules = l.rules.With(r, f.Number, f.ForGood) })
		}
	}, func(w *World, f injection[nemesis.Traffic]) {
		over, way := f.Action.Over(w.setting)
		for _, links := range over {
			w.mend(links, way, func(l *linkDirection) { w.lift(l, f.Number) })
		}
	}),

	handle(func(w *World, f injection[*nemesis.Duplicate]) {
		w.setCopier(f.Action, &copier{after: f.Action.After.Table(), random: w.source(choice.ForFaults, 0, f.Stream())})
	}, func(w *World, f injection[*nemesis.Duplicate]) { w.setCopier(f.Action, nil) }),

	handle(func(w *World, f injection[*nemesis.GuardLatency]) {
		r := f.Action.Rule(w.faultDraws(f.Action, f.Stream()))
		for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
			l := &w.network.toGuard[client-1]
			l.rules = l.rules.With(r, f.Number, f.ForGood)
		}
	}, func(w *World, f injection[*nemesis.GuardLatency]) {
		for _, client := range nemesis.Each(f.Action.Clients, w.setting.Clients) {
			l := &w.network.toGuard[client-1]
			l.rules = l.rules.Without(f.Number)
		}
	}),

	handle(func(w *World, f injection[*nemesis.Bandwidth]) {
		w.disturb(f.Action.Links, f.Action.Way, func(l *linkDirection) { l.bandwidth = &bandwidth{perSecond: f.Action.BytesPerSecond} })
	}, func(w *World, f injection[*nemesis.Bandwidth]) { w.mend(f.Action.Links, f.Action.Way, w.liftLimit) }),

	handle(func(w *World, f injection[*nemesis.Loss]) {
		on := &loss{fault: f.Action, random: w.source(choice.ForFaults, 0, f.Stream())}
		w.disturb(f.Action.Links, f.Action.Way, func(l *linkDirection) { l.loss = on })
	}, func(w *World, f injection[*nemesis.Loss]) {
		w.mend(f.Action.Links, f.Action.Way, func(l *linkDirection) { l.loss = nil })
	}),

	handle(func(w *World, f injection[*nemesis.Reset]) {
		on := resetAll
		if f.Action.Once {
			on = resetNext(f.Number)
			w.strikes[f.Number] = world.NewStrikes(w.setting, f.Action.Links, f.Action.Way)
		}
		w.links.Disturb(f.Action.Links, func(client, node int) {
			w.network.link(client, node).each(f.Action.Way, func(l *linkDirection) { l.resets = on })
			if !f.Action.Once {
				w.resetUnderWay(client, node, f.Action.Way)
			}
		})
	}, func(w *World, f injection[*nemesis.Reset]) {
		over := []nemesis.Links{f.Action.Links}
		if f.Action.Once {
			over = w.strikes[f.Number].Pending()
		}
		for _, links := range over {
			w.mend(links, f.Action.Way, func(l *linkDirection) { l.resets = resetNone })
		}
	}),
}

// setCopier sets the copier of a fault's links; nil ends the copying.
func (w *World) setCopier(d *nemesis.Duplicate, how *copier) {
	for _, client := range nemesis.Each(d.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(d.Nodes, w.setting.Nodes) {
			w.network.link(client, node).requests.copies = how
		}
	}
}

var clientFaults = handlers{
	handle(func(w *World, f injection[*nemesis.Pause]) { w.client(f.Action.Client).pause(f.Action.First) },
		func(w *World, f injection[*nemesis.Pause]) { w.client(f.Action.Client).resume() },
		nemesis.TimersFirstFeature),

	handle(func(w *World, f injection[*nemesis.Kill]) { w.client(f.Action.Client).kill() }, nil),

	prepared(handle(func(w *World, f injection[*nemesis.Cancel]) {
		client := w.client(f.Action.Client)
		if cancel := w.underWay.UnderWay(client.id); cancel != nil && !client.dead {
			w.injector.Record(history.Event{Kind: history.Cancel, Client: client.id})
			cancel()
			client.wakeCancelled()
		}
	}, nil), func(w *World, f injection[*nemesis.Cancel]) { w.underWay.Expect(f.Action.Client) }),

	handle(func(w *World, f injection[*nemesis.Clone]) {
		clones := nemesis.Each(f.Action.Clients, w.setting.Clients)
		for _, client := range clones[1:] {
			w.client(client).random.becomes(w.client(clones[0]).random)
		}
	}, nil),
}
