package world

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

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

// whoseClock returns the machine whose clocks a fault changes, or the zero value.
func whoseClock(a nemesis.Action) nemesis.Machine {
	switch a := a.(type) {
	case *nemesis.ClockJump:
		return a.Machine
	case *nemesis.ClockRate:
		return a.Machine
	case *nemesis.ClockSlew:
		return a.Machine
	case *nemesis.ClockStrobe:
		return a.Machine
	case *nemesis.ClockFreeze:
		return a.Machine
	case *nemesis.Suspend:
		return nemesis.Machine{Client: a.Client}
	case *nemesis.Snapshot:
		return nemesis.Machine{Client: a.Client}
	}
	return nemesis.Machine{}
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
