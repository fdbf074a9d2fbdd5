package sim

import (
	"fmt"
	"maps"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// restoringMachine takes a whole machine back: the server knows nothing of it, so that its
// run goes on. Its scripts are those that it knows now: a client sends one again that is
// missing, and loses a round trip by it.
var restoringMachine = world.Carry(
	func(w *World, c world.Case[*nemesis.VMRestore]) error {
		n := w.node(c.Action.Node)
		w.clocks.BeginRestore(c)
		w.vanish(n, fmt.Sprintf("as its machine was %v before, in the same run", c.Action.Age))
		w.silence(n, c.ForGood)
		n.comeback.state = snapshot{w.now - int64(c.Action.Age), n.journal.asOf(w.now - int64(c.Action.Age))}
		return nil
	},
	func(w *World, c world.Case[*nemesis.VMRestore]) error {
		n := w.node(c.Action.Node)
		then := n.comeback.state
		w.clocks.EndRestore(c)
		w.rollBack(n, then.position)
		maps.DeleteFunc(n.vouched, func(_ time.Duration, v voucher) bool { return v.at > then.at })
		w.resume(n)
		return nil
	},
).With(nemesis.NodeClockFeature).Opening(func(w *World, c world.Case[*nemesis.VMRestore]) {
	j := w.keepJournal(w.node(c.Action.Node))
	j.age = max(j.age, int64(c.Action.Age))
})
