package live

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// commandPatience is how long a server may take to answer us.
const commandPatience = 5 * time.Second

// Commands is what can be done to a fleet of [Commander]s.
func Commands() Repertoire {
	return Repertoire{
		evicting,
		world.Carry(func(w *World, c world.Case[*nemesis.ScriptFlush]) error {
			return w.command(c.Action.Node, flushScripts)
		}, nil),
		world.Carry(
			func(w *World, c world.Case[*nemesis.NodeError]) error {
				w.links.Disturb(nemesis.Links{Nodes: c.Action.Nodes}, untouched)
				return w.commandAll(c.Action.Nodes, nodeErrors[c.Action.Error].begin)
			},
			func(w *World, c world.Case[*nemesis.NodeError]) error {
				w.links.Mend(nemesis.Links{Nodes: c.Action.Nodes}, untouched)
				return w.commandAll(c.Action.Nodes, nodeErrors[c.Action.Error].end)
			},
		),
	}
}

// commands are given to a server one after another.
type commands [][]string

var flushScripts = commands{{"SCRIPT", "FLUSH", "SYNC"}}

// nodeErrors are how a server is made to answer with an error, and how that ends. A
// replica of nobody is read only.
var nodeErrors = map[nemesis.ErrorName]struct{ begin, end commands }{
	nemesis.OOM:      {commands{{"CONFIG", "SET", "maxmemory", "1"}}, commands{{"CONFIG", "SET", "maxmemory", "0"}}},
	nemesis.ReadOnly: {commands{{"REPLICAOF", "127.0.0.1", "1"}}, commands{{"REPLICAOF", "NO", "ONE"}}},
}

// commandAll gives them to several.
func (w *World) commandAll(nodes []int, c commands) error {
	for _, node := range nemesis.Each(nodes, len(w.fleet.Servers)) {
		if err := w.command(node, c); err != nil {
			return err
		}
	}
	return nil
}

// command gives commands to the server of a node. One that is down is left alone; one
// that stands still has them waiting for it when it goes on.
func (w *World) command(node int, c commands) error {
	server := w.server(node).(Commander)
	switch w.states[node-1] {
	case down:
		return nil
	case still:
		w.crew.start("commands to a server that stands still", func() {
			if err := give(w.over, server, c); err != nil && w.over.Err() == nil {
				w.fail(err)
			}
		}, w.fail)
		return nil
	}
	ctx, cancel := context.WithTimeout(w.over, commandPatience)
	defer cancel()
	return give(ctx, server, c)
}

func give(ctx context.Context, server Commander, c commands) error {
	for _, command := range c {
		if _, err := server.Do(ctx, command...); err != nil {
			return err
		}
	}
	return nil
}
