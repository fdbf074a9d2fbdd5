package live

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Stops is what can be done to a fleet of [Stopper]s. It disturbs the node's links,
// because nobody can count on a round trip to it meanwhile.
func Stops() Repertoire {
	return Repertoire{world.Carry(
		func(w *World, c world.Case[*nemesis.NodePause]) error {
			w.links.Disturb(nemesis.Links{Nodes: []int{c.Action.Node}}, untouched)
			w.states[c.Action.Node-1] = still
			return w.server(c.Action.Node).(Stopper).Stop()
		},
		func(w *World, c world.Case[*nemesis.NodePause]) error {
			w.states[c.Action.Node-1] = up
			err := w.server(c.Action.Node).(Stopper).Continue()
			w.links.Mend(nemesis.Links{Nodes: []int{c.Action.Node}}, untouched)
			return err
		},
	)}
}

// untouched is what a fault does to a link that is as good as ever, while the node
// behind it is not.
func untouched(int, int) {}
