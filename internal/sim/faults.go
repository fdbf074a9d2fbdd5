package sim

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Short names for the types that the handlers of faults use.
type (
	handlers                    = world.FaultHandlers[*World]
	handler[A nemesis.Action]   = world.FaultHandler[*World, A]
	injection[A nemesis.Action] = world.Injection[A]
)

// faultHandlers lists the handler of every kind of fault. Package world handles clock
// faults for all worlds.
var faultHandlers = slices.Concat(
	nodeFaults, rollbackFaults, keyFaults, messageFaults, connectionFaults, clientFaults,
	world.ClockFaults(func(w *World) *world.Clocks { return w.clocks }, nemesis.NodeClockFeature),
)

// Faults lists the kinds of faults that a simulated world can inject.
func Faults() []nemesis.Kind { return faultHandlers.Kinds() }

// Features lists the features of those kinds that it supports.
func Features() []nemesis.Feature { return faultHandlers.Features() }

// disturb applies change to one direction, or both, of every selected link, on
// behalf of a fault that begins.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, change func(*linkDirection)) {
	w.links.Disturb(which, func(client, node int) { w.network.link(client, node).each(way, change) })
}

// mend applies restore to them when the fault ends.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, restore func(*linkDirection)) {
	w.endLinkFault(which, func(client, node int) { w.network.link(client, node).each(way, restore) })
}

var nodeFaults = handlers{
	handler[*nemesis.Crash]{
		Features: []nemesis.Feature{nemesis.RestartDelayFeature},
		Begin: func(w *World, f injection[*nemesis.Crash]) error {
			n := w.node(f.Action.Node)
			w.crash(n, w.setting.Persistence.Keeps())
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
			w.flushStore(n)
			w.crash(n, w.setting.Persistence.Keeps())
			w.keepWritten(n)
			n.journal.markDurable()
			w.restartAfter(n, f.Number, f.Action.RestartDelay)
			return nil
		},
		End: func(w *World, f injection[*nemesis.Shutdown]) error {
			w.comeUp(w.node(f.Action.Node))
			return nil
		},
	},
	handler[*nemesis.PowerLoss]{
		Features: []nemesis.Feature{nemesis.RestartDelayFeature, nemesis.StuckSyncFeature, nemesis.TornLoadFeature, nemesis.TornRefuseFeature},
		Prepare: func(w *World, f injection[*nemesis.PowerLoss]) {
			switch s := &w.setting; {
			case s.Persistence == nemesis.EverySecond:
				j := w.keepJournal(w.node(f.Action.Node))
				j.everySecond, j.maxStall = true, max(j.maxStall, int64(f.Action.StuckSync))
			case s.Persistence == nemesis.Always && s.Sync != nil:
				w.keepJournal(w.node(f.Action.Node))
			}
		},
		Begin: func(w *World, f injection[*nemesis.PowerLoss]) error {
			n := w.node(f.Action.Node)
			syncing := n.syncing
			if f.Action.TornTail == nemesis.TornRefuse {
				w.crash(n, "")
			} else {
				w.cutPower(n, w.setting.Persistence.KeepsWithoutPower(), f.ForGood)
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
			w.endLinkFault(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
			return nil
		},
	},
	// The links of nodes without a majority count as down: they do not reply to clients. A node notices
	// at once that it is cut off.
	handler[*nemesis.PeerPartition]{
		Begin: func(w *World, f injection[*nemesis.PeerPartition]) error {
			w.links.Disturb(nemesis.Links{Nodes: f.Action.Minority(len(w.nodes))}, untouched)
			w.cutPeers(f.Action.Nodes...)
			return nil
		},
		End: func(w *World, f injection[*nemesis.PeerPartition]) error {
			w.cutPeers()
			w.endLinkFault(nemesis.Links{Nodes: f.Action.Minority(len(w.nodes))}, untouched)
			return nil
		},
	},
}

// keepWritten applies what a node loses when its process dies. What the process has
// written to a file survives in the kernel.
func (w *World) keepWritten(n *node) {
	if w.setting.Persistence == nemesis.Nothing {
		w.forgetEvery(n, anyKey, history.Forgotten)
		n.journal.markDurable()
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
		w.rollBack(n, w.synced(n, w.now-int64(stuck)))
	case syncing: // the command that waits for the sync was not acknowledged
		w.rollBack(n, n.journal.command)
	}
}

// untouched changes nothing about a link. It is for faults that affect only the node
// behind the link.
func untouched(int, int) {}

var keyFaults = handlers{
	// A busy node evicts once it has finished its command.
	handler[*nemesis.Evict]{
		Features: []nemesis.Feature{nemesis.OneKeyFeature},
		Begin: func(w *World, f injection[*nemesis.Evict]) error {
			n := w.node(f.Action.Node)
			if n.down {
				return nil
			}
			n.evicting = eviction{f.Action, f.Number}
			if !n.busy() {
				w.evict(n)
			}
			return nil
		},
	},
	handler[*nemesis.ScriptFlush]{
		Begin: func(w *World, f injection[*nemesis.ScriptFlush]) error {
			w.node(f.Action.Node).forgetScripts()
			return nil
		},
	},
	// The nodes' links count as down: no client can expect a good reply.
	handler[*nemesis.NodeError]{
		Features: []nemesis.Feature{nemesis.LoadingFeature},
		Begin: func(w *World, f injection[*nemesis.NodeError]) error {
			w.answerWith(f.Action.Nodes, errorCauses[f.Action.Error])
			w.links.Disturb(nemesis.Links{Nodes: f.Action.Nodes}, untouched)
			return nil
		},
		End: func(w *World, f injection[*nemesis.NodeError]) error {
			w.answerWith(f.Action.Nodes, 0)
			w.endLinkFault(nemesis.Links{Nodes: f.Action.Nodes}, untouched)
			return nil
		},
	},
}

// eviction is the eviction that a fault has requested of a node.
type eviction struct {
	of    *nemesis.Evict // nil: nothing
	fault int
}

// evict removes keys from a node if a fault has requested it.
func (w *World) evict(n *node) {
	e := n.evicting
	if e.of == nil {
		return
	}
	n.evicting = eviction{}
	w.injector.OnBehalf(e.fault, func() {
		w.forgetEvery(n, e.takes, history.Evicted)
		if e.of.Policy == nemesis.AllKeys && e.of.Resource == "" {
			n.attested, n.dirty = nil, true // attestations are keys without a TTL
		}
	})
}

// takes reports whether the eviction removes a key.
func (e eviction) takes(resource string, k key) bool {
	if e.of.Resource != "" && resource != e.of.Resource {
		return false
	}
	return e.of.Policy == nemesis.AllKeys || k.volatile()
}

var errorCauses = map[nemesis.ErrorName]cause{nemesis.Loading: loading, nemesis.OOM: oom, nemesis.ReadOnly: readOnly}

func (w *World) answerWith(nodes []int, c cause) {
	for _, id := range nemesis.Each(nodes, len(w.nodes)) {
		w.node(id).failing = c
	}
}

var clientFaults = handlers{
	handler[*nemesis.Pause]{
		Features: []nemesis.Feature{nemesis.TimersFirstFeature},
		Begin: func(w *World, f injection[*nemesis.Pause]) error {
			w.clients[f.Action.Client-1].pause(f.Action.First)
			return nil
		},
		End: func(w *World, f injection[*nemesis.Pause]) error {
			w.clients[f.Action.Client-1].resume()
			return nil
		},
	},
	handler[*nemesis.Kill]{
		Begin: func(w *World, f injection[*nemesis.Kill]) error {
			w.clients[f.Action.Client-1].kill()
			return nil
		},
	},
	handler[*nemesis.Cancel]{
		Prepare: func(w *World, f injection[*nemesis.Cancel]) { w.underWay.Expect(f.Action.Client) },
		Begin: func(w *World, f injection[*nemesis.Cancel]) error {
			client := w.clients[f.Action.Client-1]
			if cancel := w.underWay.UnderWay(f.Action.Client); cancel != nil && !client.dead {
				w.injector.Record(history.Event{Kind: history.Cancel, Client: f.Action.Client})
				cancel()
				client.wakeCancelled()
			}
			return nil
		},
	},
	handler[*nemesis.Clone]{
		Begin: func(w *World, f injection[*nemesis.Clone]) error {
			clones := nemesis.Each(f.Action.Clients, w.setting.Clients)
			for _, client := range clones[1:] {
				w.clients[client-1].random.becomes(w.clients[clones[0]-1].random)
			}
			return nil
		},
	},
}
