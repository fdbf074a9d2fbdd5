package world

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Injector injects the faults of a plan into a world and records in the history
// when each of them begins and ends. It is the [nemesis.Target] that the world's
// scheduler drives.
type Injector struct {
	faults  []boundFault // by number, from 0
	record  func(e history.Event)
	current int // number of the fault that causes what is happening now, or 0
}

// NewInjector returns the injector for a world and its plan. record writes an event.
func NewInjector[W any](world W, plan nemesis.Plan, handlers FaultHandlers[W], record func(e history.Event)) *Injector {
	return &Injector{faults: handlers.bind(world, plan), record: record}
}

// Prepare prepares the world for its plan, before the run. It returns an error
// if a fault of the plan has no handler.
func (j *Injector) Prepare() error {
	for _, f := range j.faults {
		if f.begin == nil {
			return f.wrap(fmt.Errorf("faults of the kind %s cannot be carried out here", f.action.Kind()))
		}
		f.prepare()
	}
	return nil
}

// Begin implements [nemesis.Target].
func (j *Injector) Begin(number int) (err error) {
	f := j.faults[number-1]
	j.OnBehalf(number, func() {
		whose := whoseClock(f.action)
		j.Record(history.Event{
			Kind: history.FaultStart, Name: string(f.action.Kind()), Detail: f.action.String(),
			Client: whose.Client, Node: whose.Node,
		})
		err = f.begin()
	})
	return f.wrap(err)
}

// End implements [nemesis.Target]. The end is recorded once the handler has
// healed the fault. If it heals later, [Injector.Finish] records it.
func (j *Injector) End(number int) error {
	f := j.faults[number-1]
	if f.endsLater {
		return f.wrap(f.end())
	}
	return f.wrap(j.finish(f, f.end))
}

// Finish runs heal, which ends a fault, and records the end. The world calls it
// for a fault that it ends by itself, or whose end took time.
func (j *Injector) Finish(number int, heal func()) {
	_ = j.finish(j.faults[number-1], func() error { heal(); return nil })
}

func (j *Injector) finish(f boundFault, heal func() error) (err error) {
	j.OnBehalf(f.number, func() {
		if err = heal(); err == nil {
			j.Record(history.Event{Kind: history.FaultEnd, Detail: f.action.String()})
		}
	})
	return err
}

// OnBehalf runs do, whose events are caused by a fault, perhaps long after the
// fault began.
func (j *Injector) OnBehalf(number int, do func()) {
	before := j.current
	j.current = number
	defer func() { j.current = before }()
	do()
}

// Record writes an event of the world, with the number of the fault that caused
// it, if one did.
func (j *Injector) Record(e history.Event) {
	e.Fault = j.current
	j.record(e)
}

// wrap adds to an error which fault it is about.
func (f boundFault) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("fault %d (%v): %w", f.number, f.action, err)
}
