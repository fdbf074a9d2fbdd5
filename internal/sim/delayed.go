package sim

// delayedAction is what a fault or a node does at a later time.
type delayedAction struct {
	do     func()
	clocks bool // it only moves clocks
}

// later schedules do at a ground time: after the begins and ends of faults at the
// same instant, and before everything that they may affect.
func (w *World) later(at int64, do func()) { w.schedule(at, delayedAction{do: do}) }

// moveLater schedules move, which changes clocks and nothing else.
func (w *World) moveLater(at int64, move func()) {
	w.schedule(at, delayedAction{do: move, clocks: true})
}

func (w *World) schedule(at int64, t delayedAction) {
	w.queue.push(at, delayedActions, w.delayed.put(t))
}

func (w *World) runDelayed(i int32) { w.delayed.take(i).do() }
