package sim

import "github.com/lockstorm/lockstorm/nemesis"

// stopping disturbs the node's links, because nobody can count on a round trip
// to it meanwhile.
var stopping = nemesis.Carry(
	func(w *World, number int, p *nemesis.NodePause) error {
		n := w.node(p.Node)
		n.stopped, n.forGood = true, w.endless(number)
		w.turnout()
		w.links.Disturb(nemesis.Links{Nodes: []int{p.Node}}, untouched)
		return nil
	},
	func(w *World, _ int, p *nemesis.NodePause) error {
		n := w.node(p.Node)
		n.stopped = false
		w.turnout()
		w.proceed(n)
		w.letGo(nemesis.Links{Nodes: []int{p.Node}}, untouched)
		return nil
	},
)

// untouched is what a fault does to a link that is as good as ever, while the
// node behind it is not.
func untouched(int, int) {}
