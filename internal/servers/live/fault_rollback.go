package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Failovers returns the handlers for a fleet whose servers are pairs of a master and a replica where the plan
// needs it: failover and split-brain.
func Failovers() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.Failover]{
			Features: []nemesis.Feature{nemesis.PlannedFeature, nemesis.UnplannedFeature},
			Begin: func(w *World, f injection[*nemesis.Failover]) error {
				if f.Action.Planned {
					w.links.Disturb(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
					return w.pauseClients(f.Action.Node)
				}
				w.goDown(f.Action.Node, "as its replica, with the keys that had come to it")
				return w.server(f.Action.Node).(*pair).loseMaster()
			},
			End: func(w *World, f injection[*nemesis.Failover]) error {
				node, lost := f.Action.Node, w.server(f.Action.Node).(*pair)
				if f.Action.Planned {
					w.goDown(node, history.WithAllItsKeys)
				}
				w.clocks.Begin(f.Number, f.Action.Effects(w.setting).Clock)
				var heir *pair
				w.recover(node, f.Number, func() (err error) {
					if f.Action.Planned {
						if err := lost.catchUp(w.over); err != nil {
							return err
						}
					}
					if heir, err = lost.promote(w.over); err != nil {
						return err
					}
					w.lead(node, heir.Addr())
					if f.Action.Planned {
						return errors.Join(sendAll(w.over, lost.OwnServer, unpauseClients), heir.demote(w.over))
					}
					return heir.rejoin(w.over)
				}, func() {
					w.fleet.Servers[node-1] = heir
					if f.Action.Planned {
						w.links.Mend(nemesis.Links{Nodes: []int{node}}, untouched)
					}
				})
				return nil
			},
			EndsLater: true,
		},
		// A split brain promotes the replica while the old master still runs. The node's links
		// count as down, because clients that reach different masters see different keys. Other
		// faults of the node affect the old master.
		handler[*nemesis.SplitBrain]{
			Begin: func(w *World, f injection[*nemesis.SplitBrain]) error {
				node := f.Action.Node
				w.plan.awaitEnd(w.recoveries[node-1].ending)
				w.links.Disturb(nemesis.Links{Nodes: []int{node}}, untouched)
				w.keyWatch(node).suspend() // of two masters neither has what the other does
				w.keyWatch(node).finish()
				old := w.server(node).(*pair)
				old.disconnect()
				heir, err := old.promote(w.over)
				if err != nil {
					return err
				}
				w.recoveries[node-1] = recovery{promoted: heir}
				w.leadSome(node, heir.Addr(), func(client int) bool { return !f.Action.Old(client) })
				return nil
			},
			End: func(w *World, f injection[*nemesis.SplitBrain]) error {
				node := f.Action.Node
				heir := w.recoveries[node-1].promoted
				w.recoveries[node-1].ending = w.plan.endLater(f.Number, func() error {
					w.leadSome(node, heir.Addr(), f.Action.Old)
					return heir.demote(w.over)
				}, func() {
					w.fleet.Servers[node-1], w.recoveries[node-1] = heir, recovery{}
					w.keyWatch(node).resume(w.server(node).Addr(), history.RolledBack)
					w.links.Mend(nemesis.Links{Nodes: []int{node}}, untouched)
				})
				return nil
			},
			EndsLater: true,
		},
	}
}

// Successions returns the handler of planned failovers for a store whose members are [Predecessor]s.
func Successions() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.Failover]{
			Features: []nemesis.Feature{nemesis.PlannedFeature},
			Begin: func(w *World, f injection[*nemesis.Failover]) error {
				w.links.Disturb(nemesis.Links{Nodes: []int{f.Action.Node}}, untouched)
				return w.pauseClients(f.Action.Node)
			},
			End: func(w *World, f injection[*nemesis.Failover]) error {
				node, server := f.Action.Node, w.server(f.Action.Node).(Predecessor)
				w.plan.endLater(f.Number, func() error {
					if err := server.HandOver(w.over); err != nil {
						return err
					}
					return sendAll(w.over, server, unpauseClients)
				}, func() {
					w.states[node-1] = up
					w.links.Mend(nemesis.Links{Nodes: []int{node}}, untouched)
				})
				return nil
			},
			EndsLater: true,
		},
	}
}

// lead redirects the links of every client to a node to another server.
func (w *World) lead(node int, addr string) {
	w.leadSome(node, addr, func(int) bool { return true })
}

// leadSome redirects the links of the selected clients.
func (w *World) leadSome(node int, addr string, which func(client int) bool) {
	for client := 1; client <= w.setting.Clients; client++ {
		if which(client) {
			w.network.Link(client, node).Redirect(addr)
		}
	}
}

// OldSnapshots returns the handler for a fleet of [Restorer]s.
func OldSnapshots() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.OldSnapshot]{
			Begin: func(w *World, f injection[*nemesis.OldSnapshot]) error {
				w.goDown(f.Action.Node, fmt.Sprintf("with the keys of a snapshot %v old", f.Action.Age))
				return w.server(f.Action.Node).(Restorer).Restore(f.Action.Age)
			},
			End: func(w *World, f injection[*nemesis.OldSnapshot]) error {
				w.clocks.Begin(f.Number, f.Action.Effects(w.setting).Clock)
				w.comeUp(f.Action.Node, f.Number)
				return nil
			},
			EndsLater: true,
		},
	}
}

// VMRestores returns the handler for a fleet of [Rewinder]s that are [Clocked]. It restores no
// machine: it stops the process, makes it unreachable and later gives it the keys of the
// snapshot. A lock can see nothing else of the server's memory.
func VMRestores() FaultHandlers {
	return FaultHandlers{
		handler[*nemesis.VMRestore]{
			Features: []nemesis.Feature{nemesis.NodeClockFeature},
			Begin: func(w *World, f injection[*nemesis.VMRestore]) error {
				w.clocks.Begin(f.Number, f.Action.Effects(w.setting).Clock)
				w.silence(f.Action.Node, f.Number, fmt.Sprintf("as its machine was %v before, in the same run", f.Action.Age))
				w.recoveries[f.Action.Node-1].state = time.Now().Add(-f.Action.Age)
				return w.server(f.Action.Node).(Rewinder).Stop()
			},
			End: func(w *World, f injection[*nemesis.VMRestore]) error {
				node, server := f.Action.Node, w.server(f.Action.Node)
				then := w.recoveries[node-1].state
				w.clocks.End(f.Number, f.Action.Effects(w.setting).Clock)
				w.recover(node, f.Number, func() error {
					err := server.(Rewinder).Rewind(w.over, then)
					w.lead(node, server.Addr()) // which resets its connections
					return err
				}, func() {})
				return nil
			},
			EndsLater: true,
		},
	}
}
