package world

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// ClockSelection selects clocks of a machine.
type ClockSelection uint8

// The clocks that can be selected. A client's machine has a third clock, which counts
// suspension.
const (
	WallClock      ClockSelection = iota // the wall clock
	MonotonicClock                       // the clock that timers use
	AllClocks                            // every clock
)

// Of returns the selected clocks of a machine; more lists the clocks that only some
// machines have.
func (s ClockSelection) Of(wall, monotonic *Clock, more ...*Clock) []*Clock {
	switch s {
	case WallClock:
		return []*Clock{wall}
	case MonotonicClock:
		return []*Clock{monotonic}
	}
	return append([]*Clock{wall, monotonic}, more...)
}

// ClockWorld is the part of a world that clock faults need.
type ClockWorld interface {
	// GroundTime returns the time in nanoseconds since the start of the run.
	GroundTime() int64

	// Missed returns how many nanoseconds the stopped wall clock of a machine has missed,
	// or 0 if the clock runs.
	Missed(m nemesis.Machine) int64

	// Change applies how to the selected clocks of a machine, and updates the timers
	// that wait for them.
	Change(m nemesis.Machine, which ClockSelection, how func(*Clock))

	// Later calls move, which changes nothing but clocks, at a ground time.
	Later(at int64, move func())

	// PauseClient pauses a client's program, and ResumeClient resumes it.
	PauseClient(client int)
	ResumeClient(client int)
}

// Clocks applies clock faults to a world.
type Clocks struct {
	world ClockWorld

	// State that the ends of faults need, by fault number.
	rates   map[int]int64 // ground time at which a clock-rate began
	strobes map[int]*strobe

	snapshots map[int]int64 // ground time of the snapshot of a vm-restore
}

// strobe is the state of a clock-strobe.
type strobe struct {
	off  bool // the clock shows the wrong time
	over bool
}

// NewClocks returns the clock faults of a world in which none has begun.
func NewClocks(work ClockWorld) *Clocks {
	return &Clocks{world: work, rates: map[int]int64{}, strobes: map[int]*strobe{}, snapshots: map[int]int64{}}
}

// BeginRestore notes the snapshot time of a vm-restore. The world's own handler, which
// restores the keys, calls BeginRestore and [Clocks.EndRestore].
func (k *Clocks) BeginRestore(f Injection[*nemesis.VMRestore]) {
	k.snapshots[f.Number] = k.world.GroundTime() - int64(f.Action.Age)
}

// EndRestore restores the clock. It has to be called before the keys are restored, whose
// expiry depends on the clock.
func (k *Clocks) EndRestore(f Injection[*nemesis.VMRestore]) {
	if f.Action.Clock == nemesis.ClockRestored {
		k.jump(nemesis.Machine{Node: f.Action.Node}, k.snapshots[f.Number]-k.world.GroundTime())
	}
}

// jump steps the wall clock of a machine.
func (k *Clocks) jump(m nemesis.Machine, by int64) {
	k.world.Change(m, WallClock, func(c *Clock) { c.Jump(k.world.GroundTime(), by) })
}

// changeRate makes all clocks of a machine run faster than before, or slower.
func (k *Clocks) changeRate(m nemesis.Machine, ppm int64) {
	k.world.Change(m, AllClocks, func(c *Clock) { c.ChangeRate(k.world.GroundTime(), ppm) })
}

// stop stops the selected clocks of a machine.
func (k *Clocks) stop(m nemesis.Machine, which ClockSelection) {
	k.world.Change(m, which, func(c *Clock) { c.Stop(k.world.GroundTime()) })
}

// start starts stopped clocks again and returns how much time the wall clock missed, if
// it was stopped too.
func (k *Clocks) start(m nemesis.Machine, which ClockSelection) (missed int64) {
	missed = k.world.Missed(m)
	k.world.Change(m, which, func(c *Clock) { c.Start(k.world.GroundTime()) })
	return missed
}

// heal removes the error that a fault has caused in a machine's wall clock, in the way
// that the fault names. ahead is the error.
func (k *Clocks) heal(m nemesis.Machine, how nemesis.Healing, ahead int64) {
	switch {
	case ahead == 0:
	case how.Heal == nemesis.HealStep:
		k.jump(m, -ahead)
	case how.Heal == nemesis.HealSlew:
		ppm := how.SlewPPM()
		lasts := nemesis.SlewTime(time.Duration(-ahead), ppm)
		if ahead > 0 {
			ppm = -ppm
		}
		k.changeRate(m, ppm)
		k.world.Later(k.world.GroundTime()+int64(lasts), func() { k.changeRate(m, -ppm) })
	}
}

// flip switches a strobe to its other time and schedules the next switch.
func (k *Clocks) flip(o *nemesis.ClockStrobe, s *strobe) {
	if s.over {
		return
	}
	by := int64(o.By)
	if s.off {
		by = -by
	}
	s.off = !s.off
	k.jump(o.Machine, by)
	k.world.Later(k.world.GroundTime()+int64(o.Period), func() { k.flip(o, s) })
}

// ClockFaults returns the handlers of the faults that change the clocks of
// clients and, with [nemesis.NodeClockFeature], of nodes. clocks returns the
// clocks of a world.
func ClockFaults[W any](clocks func(W) *Clocks, features ...nemesis.Feature) FaultHandlers[W] {
	features = append(slices.Clip(features), nemesis.ClientClockFeature)
	return FaultHandlers[W]{
		clockFault(clocks, features, (*Clocks).beginJump, (*Clocks).endJump),
		clockFault(clocks, features, (*Clocks).beginRate, (*Clocks).endRate),
		clockFault(clocks, features, (*Clocks).beginSlew, (*Clocks).endSlew),
		clockFault(clocks, features, (*Clocks).beginStrobe, (*Clocks).endStrobe),
		clockFault(clocks, features, (*Clocks).beginFreeze, (*Clocks).endFreeze),
		clockFault(clocks, nil, (*Clocks).beginSuspend, (*Clocks).endSuspend),
		clockFault(clocks, nil, (*Clocks).beginSnapshot, (*Clocks).endSnapshot),
	}
}

// clockFault returns the handler of one kind of clock fault.
func clockFault[W any, A nemesis.Action](clocks func(W) *Clocks, features []nemesis.Feature, begin, end func(*Clocks, Injection[A])) FaultHandler[W, A] {
	return FaultHandler[W, A]{
		Features: features,
		Begin:    func(w W, f Injection[A]) error { begin(clocks(w), f); return nil },
		End:      func(w W, f Injection[A]) error { end(clocks(w), f); return nil },
	}
}

func (k *Clocks) beginJump(f Injection[*nemesis.ClockJump]) {
	k.jump(f.Action.Machine, int64(f.Action.By))
}

func (k *Clocks) endJump(f Injection[*nemesis.ClockJump]) {
	k.heal(f.Action.Machine, f.Action.Healing, int64(f.Action.By))
}

func (k *Clocks) beginRate(f Injection[*nemesis.ClockRate]) {
	k.rates[f.Number] = k.world.GroundTime()
	k.changeRate(f.Action.Machine, f.Action.PPM)
}

func (k *Clocks) endRate(f Injection[*nemesis.ClockRate]) {
	k.changeRate(f.Action.Machine, -f.Action.PPM)
	k.heal(f.Action.Machine, f.Action.Healing, scale(k.world.GroundTime()-k.rates[f.Number], f.Action.PPM))
}

func (k *Clocks) beginSlew(f Injection[*nemesis.ClockSlew]) {
	k.changeRate(f.Action.Machine, slewRate(f.Action))
}
func (k *Clocks) endSlew(f Injection[*nemesis.ClockSlew]) {
	k.changeRate(f.Action.Machine, -slewRate(f.Action))
}

func slewRate(l *nemesis.ClockSlew) int64 {
	if l.By < 0 {
		return -l.PPM
	}
	return l.PPM
}

func (k *Clocks) beginStrobe(f Injection[*nemesis.ClockStrobe]) {
	s := &strobe{}
	k.strobes[f.Number] = s
	k.flip(f.Action, s)
}

func (k *Clocks) endStrobe(f Injection[*nemesis.ClockStrobe]) {
	s := k.strobes[f.Number]
	if s.off {
		k.jump(f.Action.Machine, -int64(f.Action.By))
	}
	s.over = true
}

func (k *Clocks) beginFreeze(f Injection[*nemesis.ClockFreeze]) { k.stop(f.Action.Machine, WallClock) }

func (k *Clocks) endFreeze(f Injection[*nemesis.ClockFreeze]) {
	missed := k.start(f.Action.Machine, WallClock)
	k.heal(f.Action.Machine, f.Action.Healing, -missed)
}

func (k *Clocks) beginSuspend(f Injection[*nemesis.Suspend]) {
	k.world.PauseClient(f.Action.Client)
	k.stop(nemesis.Machine{Client: f.Action.Client}, MonotonicClock)
}

func (k *Clocks) endSuspend(f Injection[*nemesis.Suspend]) {
	k.start(nemesis.Machine{Client: f.Action.Client}, MonotonicClock)
	k.world.ResumeClient(f.Action.Client)
}

func (k *Clocks) beginSnapshot(f Injection[*nemesis.Snapshot]) {
	k.world.PauseClient(f.Action.Client)
	k.stop(nemesis.Machine{Client: f.Action.Client}, AllClocks)
}

func (k *Clocks) endSnapshot(f Injection[*nemesis.Snapshot]) {
	machine := nemesis.Machine{Client: f.Action.Client}
	missed := k.start(machine, AllClocks)
	k.world.ResumeClient(f.Action.Client)
	k.heal(machine, f.Action.Healing, -missed)
}
