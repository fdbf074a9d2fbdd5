package world

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Injection is one fault of a plan, as the handler that injects it sees it.
type Injection[A nemesis.Action] struct {
	Action  A
	Number  int  // its place in the plan, from 1
	Nth     int  // its place among the faults of its kind, from 1
	ForGood bool // it never ends
}

// Stream names the fault's own stream of random numbers. Its draws do not depend on the other kinds
// of faults in the plan.
func (f Injection[A]) Stream() string { return fmt.Sprintf("fault %s %d", f.Action.Kind(), f.Nth) }

// FaultHandler injects the faults whose action is an A into worlds of type W.
// A is the type of one kind, or an interface that several kinds implement.
type FaultHandler[W any, A nemesis.Action] struct {
	// Features lists the features of its kinds that the handler supports.
	Features []nemesis.Feature

	// Prepare is called for each fault of the plan before the run. It may be nil.
	Prepare func(w W, f Injection[A])

	// Begin starts the fault.
	Begin func(w W, f Injection[A]) error

	// End heals the fault. It is nil for faults that have no end.
	End func(w W, f Injection[A]) error

	// EndsLater says that End only starts the healing. The world calls
	// [Injector.Finish] when the fault is over.
	EndsLater bool
}

// Handler is a [FaultHandler] for any type of action.
type Handler[W any] interface {
	handles(a nemesis.Action) bool
	features() []nemesis.Feature
	bind(w W, f Injection[nemesis.Action]) boundFault
}

// boundFault is a fault of a plan, bound to its world and its handler.
type boundFault struct {
	number    int
	action    nemesis.Action
	prepare   func()
	begin     func() error // nil: no handler injects the fault
	end       func() error
	endsLater bool
}

func (h FaultHandler[W, A]) handles(a nemesis.Action) bool {
	_, ok := a.(A)
	return ok
}

func (h FaultHandler[W, A]) features() []nemesis.Feature { return h.Features }

func (h FaultHandler[W, A]) bind(w W, in Injection[nemesis.Action]) boundFault {
	f := Injection[A]{Action: in.Action.(A), Number: in.Number, Nth: in.Nth, ForGood: in.ForGood}
	b := boundFault{number: f.Number, action: f.Action, endsLater: h.EndsLater}
	b.prepare = func() {
		if h.Prepare != nil {
			h.Prepare(w, f)
		}
	}
	b.begin = func() error { return h.Begin(w, f) }
	b.end = func() error {
		if h.End == nil {
			return nil
		}
		return h.End(w, f)
	}
	return b
}

// FaultHandlers lists how worlds of type W inject faults. If several handlers
// match a fault, the first one injects it.
type FaultHandlers[W any] []Handler[W]

// Features lists the features that the handlers support.
func (hs FaultHandlers[W]) Features() []nemesis.Feature {
	var all []nemesis.Feature
	for _, h := range hs {
		all = append(all, h.features()...)
	}
	return all
}

// Kinds lists the kinds of faults that have a handler, in the order of
// [nemesis.Kinds].
func (hs FaultHandlers[W]) Kinds() []nemesis.Kind {
	var kinds []nemesis.Kind
	for _, a := range nemesis.Actions() {
		if hs.find(a) != nil {
			kinds = append(kinds, a.Kind())
		}
	}
	return kinds
}

// find returns the handler of an action, or nil if there is none.
func (hs FaultHandlers[W]) find(a nemesis.Action) Handler[W] {
	for _, h := range hs {
		if h.handles(a) {
			return h
		}
	}
	return nil
}

// bind binds the faults of a plan to a world.
func (hs FaultHandlers[W]) bind(w W, plan nemesis.Plan) []boundFault {
	seen := map[nemesis.Kind]int{}
	all := make([]boundFault, len(plan))
	for i := range plan {
		action := plan[i].Action
		seen[action.Kind()]++
		all[i] = boundFault{number: i + 1, action: action}
		if h := hs.find(action); h != nil {
			all[i] = h.bind(w, Injection[nemesis.Action]{Action: action, Number: i + 1, Nth: seen[action.Kind()], ForGood: plan[i].ForGood()})
		}
	}
	return all
}

// Injector injects the faults of a plan into a world and records in the history
// when each of them begins and ends. A [Scheduler] says when.
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

// Begin begins the fault of that number.
func (j *Injector) Begin(number int) (err error) {
	f := j.faults[number-1]
	j.OnBehalf(number, func() {
		whose := f.action.Effects(nemesis.Setting{}).Clock.Machine
		j.Record(history.Event{
			Kind: history.FaultStart, Name: string(f.action.Kind()), Detail: f.action.String(),
			Client: whose.Client, Node: whose.Node,
		})
		err = f.begin()
	})
	return f.wrap(err)
}

// End ends the fault of that number. The end is recorded once the handler has
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

// Cause is the number of the fault that causes what is happening now, or 0.
func (j *Injector) Cause() int { return j.current }

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
