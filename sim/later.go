package sim

// turn is what a fault, or a node, goes on with by itself.
type turn struct {
	do     func()
	clocks bool // all that it does is to move clocks
}

// later does something at a ground time. It comes after the begins and ends of
// faults at the same instant, and before everything that they may hit.
func (w *World) later(at int64, do func()) { w.turn(at, turn{do: do}) }

// moveLater does something at a ground time to clocks, and to nothing else.
func (w *World) moveLater(at int64, move func()) { w.turn(at, turn{do: move, clocks: true}) }

func (w *World) turn(at int64, t turn) { w.queue.push(at, faultTurns, w.turns.put(t)) }

func (w *World) takeTurn(i int32) { w.turns.take(i).do() }
