package world

import (
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Hands says which of a machine's clocks are meant.
type ClockSelection uint8

// Every machine has these clocks; a client's has one more, which counts suspension.
const (
	WallClock      ClockSelection = iota // the wall clock
	MonotonicClock                       // the one that everything waits by
	AllClocks                            // every clock
)

// Of returns those of a machine's clocks that are meant; more are those that only some
// machines have.
func (h ClockSelection) Of(wall, monotonic *Clock, more ...*Clock) []*Clock {
	switch h {
	case WallClock:
		return []*Clock{wall}
	case MonotonicClock:
		return []*Clock{monotonic}
	}
	return append([]*Clock{wall, monotonic}, more...)
}

// Clockwork is a world as far as what happens to its clocks goes.
type ClockWorld interface {
	// GroundTime is the time now, in nanoseconds since the begin of the run.
	GroundTime() int64

	// Missed is by how much the wall clock of a machine would have run on that stands
	// still, in nanoseconds; 0: it does not.
	Missed(m nemesis.Machine) int64

	// Change does something to some of a machine's clocks, and sees to those who
	// wait for them.
	Change(m nemesis.Machine, which ClockSelection, how func(*Clock))

	// Later does something to clocks, and to nothing else, at a ground time.
	Later(at int64, move func())

	// Halt makes a client's program stand still, and Proceed lets it go on.
	PauseClient(client int)
	ResumeClient(client int)
}

// Clocks is all that faults do to the clocks of a world.
type Clocks struct {
	world ClockWorld

	// What their ends have to know, by the number of the fault.
	rates   map[int]int64 // ground time at which a clock-rate began
	strobes map[int]*strobe

	snapshots map[int]int64 // ground time of that to which a vm-restore goes back
}

// strobe is how far a clock-strobe has come.
type strobe struct {
	off  bool // the clock shows the other time
	over bool
}

// NewClocks returns what faults do to the clocks of a world in which none has begun.
func NewClocks(work ClockWorld) *Clocks {
	return &Clocks{world: work, rates: map[int]int64{}, strobes: map[int]*strobe{}, snapshots: map[int]int64{}}
}

// BeginRestore and EndRestore are what a restore of a node's machine does to its clock, on
// behalf of whoever restores its keys.
func (k *Clocks) BeginRestore(f Injection[*nemesis.VMRestore]) {
	k.snapshots[f.Number] = k.world.GroundTime() - int64(f.Action.Age)
}

// EndRestore is to be called before keys are restored that live by the clock.
func (k *Clocks) EndRestore(f Injection[*nemesis.VMRestore]) {
	if f.Action.Clock == nemesis.ClockRestored {
		k.jump(nemesis.Machine{Node: f.Action.Node}, k.snapshots[f.Number]-k.world.GroundTime())
	}
}

// jump steps the wall clock of a machine.
func (k *Clocks) jump(m nemesis.Machine, by int64) {
	k.world.Change(m, WallClock, func(c *Clock) { c.Jump(k.world.GroundTime(), by) })
}

// hurry makes all clocks of a machine run faster than before, or slower.
func (k *Clocks) changeRate(m nemesis.Machine, ppm int64) {
	k.world.Change(m, AllClocks, func(c *Clock) { c.ChangeRate(k.world.GroundTime(), ppm) })
}

// stop makes some of a machine's clocks stand still.
func (k *Clocks) stop(m nemesis.Machine, which ClockSelection) {
	k.world.Change(m, which, func(c *Clock) { c.Stop(k.world.GroundTime()) })
}

// start makes them go on from where they stand, and returns how far the wall clock
// would have run on meanwhile, if it stood still too.
func (k *Clocks) start(m nemesis.Machine, which ClockSelection) (missed int64) {
	missed = k.world.Missed(m)
	k.world.Change(m, which, func(c *Clock) { c.Start(k.world.GroundTime()) })
	return missed
}

// heal takes back, in the way of a fault, the error that this fault has brought
// into the wall clock of a machine: how far it is ahead.
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

// flip shows the other of a strobe's two times, and will do so again after a period.
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
