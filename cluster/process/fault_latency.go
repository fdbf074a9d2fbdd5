//go:build linux

package process

import (
	"fmt"

	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// slowing draws from a stream of the fault's own, so that the delays of one
// fault do not depend on which others came before it.
var slowing = part{
	Kind: (*nemesis.Latency)(nil).Kind(),
	Begin: func(w *World, number int, f *nemesis.Fault) error {
		random := newRandom(w.seed, fmt.Sprintf("fault %d", number))
		delays := f.Latency.Add.Table()
		w.disturb(f.Latency.Clients, f.Latency.Nodes, func(l *wire.Link) {
			l.Requests.Delay(random.draw(delays))
			l.Replies.Delay(random.draw(delays))
		})
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.mend(f.Latency.Clients, f.Latency.Nodes, func(l *wire.Link) {
			l.Requests.Delay(0)
			l.Replies.Delay(0)
		})
		return nil
	},
}
